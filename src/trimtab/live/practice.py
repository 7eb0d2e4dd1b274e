"""Training on a real platform, as the slides' loop has it: scale, invoke, collect latencies, tell the agent.

An episode is a replay of a workload against the gateway while a scale policy decides every period: it sees what the
environment (``GET /v1/state``) and the client's own log say, and acts through ``POST /v1/scale``.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from trimtab.control.guards import ScaleGuard
from trimtab.errors import TrimtabError
from trimtab.live.client import GatewayClient
from trimtab.live.load.log import Log
from trimtab.live.load.plan import plan_of
from trimtab.live.load.replay import LIMITS, Limits, replaying
from trimtab.live.load.target import target_of
from trimtab.live.observe import Observer
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
from trimtab.workload.table import Workload

_READY = 60.0
"""Seconds that the first instances of an episode may take."""


class Practice:
    """Plays episodes on a gateway that has the scenario's functions; its own scale policy is switched off."""

    def __init__(self, gateway: GatewayClient, limits: Limits = LIMITS) -> None:
        self._gateway, self._limits = gateway, limits

    def run(self, scenario: Scenario, workload: Workload, seed: int, policy: Any) -> Outcome:
        """One episode; meters are those that the training reads."""
        self._reset(scenario)
        observers = [Observer(function, index) for index, function in enumerate(scenario.functions)]
        control = scenario.control
        guard = ScaleGuard(policy, control.minimum, control.maximum, control.cpu_minimum, control.cpu_maximum)
        period = control.period or policy.period
        with replaying(plan_of(scenario, workload), target_of(self._gateway.url), self._limits) as (log, done):
            self._decide(observers, guard, period, log, done)
            done.result()
        outcome = log.outcome(scenario, "training", seed)
        seconds = sum(each.instance_seconds for each in observers)
        cores = sum(each.core_seconds for each in observers)
        return replace(
            outcome, meters=outcome.meters | {"instance_seconds": seconds, "core_seconds": cores,
                                              "makespan_s": max(each.span for each in observers)},
        )  # fmt: skip

    def _decide(
        self, observers: list[Observer], guard: ScaleGuard, period: float, log: Log, done: Future[None]
    ) -> None:
        """Observe, decide, act, every period until the last answer is there."""
        states: list[Any] = [None] * len(observers)
        due = time.monotonic()
        while not done.done():
            due += period
            while time.monotonic() < due and not done.done():
                time.sleep(min(max(due - time.monotonic(), 0.0), 0.1))
            now = time.monotonic() - log.began
            seen = self._gateway.state()
            for index, observer in enumerate(observers):
                metrics = observer.look(seen, log, now)
                desired, states[index] = guard.decide(metrics, states[index], now)
                if desired.valid and (desired.instances, desired.cpu, desired.memory) != (None, None, None):
                    self._gateway.scale(
                        metrics.name, instances=desired.instances, cpu=desired.cpu, memory=desired.memory
                    )
                    observer.resized(desired.cpu)

    def _reset(self, scenario: Scenario) -> None:
        """Bring every function to the instances that a run begins with, and wait until they are ready."""
        wanted = {
            each.name: each.instances if each.instances is not None else scenario.control.minimum
            for each in scenario.functions
        }
        self._gateway.ask("POST", "/v1/policy", {"decision": "scale", "policy": None})  # the learner is to decide
        for function in scenario.functions:
            self._gateway.scale(function.name, instances=wanted[function.name], cpu=function.cpu)
        end = time.monotonic() + _READY
        while time.monotonic() < end:
            servers = self._gateway.state()["servers"]
            up = [each["function"] for server in servers for each in server["instances"] if each["state"] == "idle"]
            if all(up.count(name) == count for name, count in wanted.items()):
                return
            time.sleep(0.1)
        raise TrimtabError(f"gateway {self._gateway.url}: functions do not come to {wanted} within {_READY:g} s")
