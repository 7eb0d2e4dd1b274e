"""Training on a real platform, as the slides' loop has it: scale, invoke, collect latencies, tell the agent.

An episode is a replay of a workload against the gateway while a scale policy decides every period: it sees what the
environment (``GET /v1/state``) and the client's own log say, and acts through ``POST /v1/scale``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from trimtab.control.guards import ScaleGuard
from trimtab.errors import TrimtabError
from trimtab.live.client import GatewayClient, Refused
from trimtab.live.load.log import Log
from trimtab.live.load.plan import plan_of
from trimtab.live.load.replay import LIMITS, Limits, replaying
from trimtab.live.load.target import target_of
from trimtab.live.observe import Observer
from trimtab.policies.scale.contract import Desired
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
from trimtab.workload.table import Workload

_CONFLICT = 409
"""The gateway's answer where the kernel refuses a new size of an instance."""
_READY = 60.0
"""Seconds that the first instances of an episode may take."""


@contextmanager
def alone(gateway: GatewayClient) -> Iterator[None]:
    """While the block runs the gateway's own scale policy is off; it is on again at the end, however that comes."""
    policy = gateway.state()["policies"]["scale"]
    if policy is not None and policy not in gateway.ask("GET", "/v1/policies")[1]["scale"]:
        raise TrimtabError(f"gateway {gateway.url}: scale policy {policy!r} comes from a file, so it could not be "
                           "switched on again after the training; start the gateway without it")  # fmt: skip
    try:
        _let_scale(gateway, None)
        yield
    except BaseException:
        gateway.close()  # Ctrl-C may have left half a request on the connection
        with suppress(TrimtabError):  # what went wrong is the news, not that a gateway that is gone cannot be told
            _let_scale(gateway, policy)
        raise
    _let_scale(gateway, policy)


def _let_scale(gateway: GatewayClient, policy: str | None) -> None:
    gateway.ask("POST", "/v1/policy", {"decision": "scale", "policy": policy})


class Practice:
    """Plays episodes on a gateway that has the scenario's functions. Nobody else may scale meanwhile: ``alone``."""

    def __init__(self, gateway: GatewayClient, limits: Limits = LIMITS) -> None:
        self._gateway, self._limits = gateway, limits
        self.not_carried_out = 0
        """Orders of all episodes that the gateway refused because an instance could not have that size."""

    def run(self, scenario: Scenario, workload: Workload, seed: int, policy: Any) -> Outcome:
        """One episode; meters are those that the training reads."""
        self._reset(scenario)
        observers = [Observer(function, index) for index, function in enumerate(scenario.functions)]
        control = scenario.control
        guard = ScaleGuard(policy, control.minimum, control.maximum, control.cpu_minimum, control.cpu_maximum)
        period = control.period or policy.period
        target = target_of(self._gateway.url, self._gateway.token)
        with replaying(plan_of(scenario, workload), target, self._limits) as (log, done):
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
                    if self.act(metrics.name, desired):
                        observer.resized(desired.cpu)

    def act(self, function: str, desired: Desired) -> bool:
        """Carry a decision out; False where an instance cannot have that size, which is no reason to stop."""
        try:
            self._gateway.scale(function, instances=desired.instances, cpu=desired.cpu, memory=desired.memory)
        except Refused as error:
            if error.status != _CONFLICT:
                raise
        else:
            return True
        self.not_carried_out += 1
        if desired.instances is not None:  # as the gateway's own loop has it: the count stands without the size
            with suppress(Refused):
                self._gateway.scale(function, instances=desired.instances)
        return False

    def _reset(self, scenario: Scenario) -> None:
        """Bring every function to the instances that a run begins with, and wait until they are ready."""
        wanted = {
            each.name: each.instances if each.instances is not None else scenario.control.minimum
            for each in scenario.functions
        }
        for function in scenario.functions:
            self.act(function.name, Desired(wanted[function.name], cpu=function.cpu))
        end = time.monotonic() + _READY
        while time.monotonic() < end:
            servers = self._gateway.state()["servers"]
            up = [each["function"] for server in servers for each in server["instances"] if each["state"] == "idle"]
            if all(up.count(name) == count for name, count in wanted.items()):
                return
            time.sleep(0.1)
        raise TrimtabError(f"gateway {self._gateway.url}: functions do not come to {wanted} within {_READY:g} s")
