"""One episode: a policy in training drives a whole run, simulated through the same loop as ``trimtab compare``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trimtab.control.run import Team, build_team, run
from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import COMPLETED, Outcome
from trimtab.workload.build import build_workload
from trimtab.workload.random_streams import stream
from trimtab.workload.table import Workload

LENGTH = 1800.0
SETTLING = 300.0
"""Seconds of an episode, and of its beginning that is not judged."""


@dataclass(frozen=True)
class Episode:
    """What a run under a policy in training came to."""

    tail: float
    """95th percentile of the latency, in seconds."""
    tail_99: float
    violations: float
    """Share of the requests."""
    instances: float
    """Mean number."""
    cores: float
    """Mean number of cores that the instances may use together."""
    held: bool
    """Whether the tail latency kept the requirement."""

    def figures(self) -> dict[str, float]:
        """For the log and the learning curve."""
        return {
            "p95_s": self.tail, "p99_s": self.tail_99, "violations": self.violations,
            "instances": self.instances, "cores": self.cores, "qos_held": float(self.held),
        }  # fmt: skip


def check(scenario: Scenario) -> None:
    """An autoscaler learns from a requirement: there must be one."""
    if scenario.decision != "scale":
        raise TrimtabError(
            f"scenario {scenario.name!r}: decision = {scenario.decision!r}, must be 'scale' to train one"
        )
    if all(function.deadline is None for function in scenario.functions):
        raise TrimtabError("functions: none has a deadline, must have one: it is the requirement that is learned")


def simulated(scenario: Scenario, workload: Workload, seed: int, policy: Any) -> Outcome:
    """A run under a scale policy in the simulator."""
    team = build_team(scenario, "scale", "fixed")
    return run(scenario, workload, seed, Team({**team.policies, "scale": policy}), "training")


@dataclass(frozen=True)
class World:
    """Where episodes are played."""

    run: Callable[[Scenario, Workload, int, Any], Outcome] = simulated
    """Scenario, workload, seed and scale policy to the outcome."""
    length: float = LENGTH
    """Seconds of an episode, at most."""


SIMULATED = World()


def play(scenario: Scenario, policy: Any, seed: int, world: World = SIMULATED) -> Episode:
    """Run ``policy`` on a part of the workload of a seed, to the end of every request."""
    workload = part(build_workload(scenario, seed), seed, world.length)
    return _episode(scenario, world.run(scenario, workload, seed, policy))


def part(workload: Workload, seed: int, longest: float = LENGTH) -> Workload:
    """At most ``longest`` seconds from a place that the seed draws; the first ``SETTLING`` are not judged.

    A run begins with the instances of the scenario, whatever the load is at that place: getting there is part of
    what is learned, not of the figures.
    """
    length = min(longest, workload.duration)
    begin = stream(seed, "policy").random() * (workload.duration - length)
    rows = slice(*np.searchsorted(workload.arrival, [begin, begin + length]).tolist())
    return replace(
        workload, arrival=workload.arrival[rows] - begin, function=workload.function[rows], work=workload.work[rows],
        off_cpu=workload.off_cpu[rows] if len(workload.off_cpu) else workload.off_cpu,
        source=workload.source[rows] if len(workload.source) else workload.source,
        noise=workload.noise[3 * rows.start : 3 * rows.stop] if len(workload.noise) else workload.noise,
        duration=length, warm_up=min(SETTLING, length / 6),
    )  # fmt: skip


def _episode(scenario: Scenario, outcome: Outcome) -> Episode:
    answered = outcome.status == COMPLETED
    latency = np.where(answered, outcome.fct, np.inf)
    tail, tail_99 = np.quantile(latency, [0.95, 0.99], method="higher")
    span = max(outcome.meters["makespan_s"], 1e-9)
    longest = max(function.deadline for function in scenario.functions if function.deadline is not None)
    instances = outcome.meters["instance_seconds"] / span
    return Episode(
        tail=_finite(float(tail), span),
        tail_99=_finite(float(tail_99), span),
        violations=float(np.mean(~answered | outcome.late)),
        instances=instances,
        cores=outcome.meters.get("core_seconds", outcome.meters["instance_seconds"]) / span,
        held=bool(tail <= longest),
    )


def _finite(value: float, most: float) -> float:
    return value if np.isfinite(value) else most
