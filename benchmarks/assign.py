"""Milliseconds an interval of the engine and of assign policies, at 100 hosts."""

from __future__ import annotations

import json
import time
from typing import Any

from benchmarks.bars import Bar, judged, keep, lines
from trimtab.control.run import Team, build_team, run
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload

SCENARIO = ("metanet-azure100", "workload.rate=1.9")
"""Some 80 tasks at a time on 100 hosts, 115 at most."""
SCHEDULERS = ("arima-aco", "lstm-aco", "decision-nn", "semi-direct", "graf", "gobi", "gosh")
BARS = {"engine_100": Bar(2.0), "gobi_100": Bar(30.0), "gosh_100": Bar(150.0)}
"""Milliseconds."""
_WARM_UP, _MEASURED = 100, 2000
"""Seconds of workload: until everything is compiled, and of the run that counts."""


def assign() -> dict[str, Any]:
    """The engine's own time an interval, and the time of a plan for a cheap heuristic and for every scheduler.

    The engine's is all of a run but ``plan()``: events, meters, and the tables that a plan is made from.
    """
    found = {}
    found["engine_100"], found["cheap_fit_100"] = _milliseconds("cheap-fit")
    for name in SCHEDULERS:
        found[f"{name.replace('-', '_')}_100"] = _milliseconds(name)[1]
    return found | {"bars": judged(found, BARS)}


class Timed:
    """A policy whose plans are timed, and nothing else."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self.seconds, self.plans = 0.0, 0

    def plan(self, tasks: Any, hosts: Any, current: Any) -> Any:
        """The policy's plan."""
        began = time.perf_counter()
        found = self._policy.plan(tasks, hosts, current)
        self.seconds += time.perf_counter() - began
        self.plans += 1
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)


def _milliseconds(policy: str) -> tuple[float, float]:
    """Of an interval without its plan, and of a plan."""
    name, rate = SCENARIO
    for duration in (_WARM_UP, _MEASURED):
        scenario = load_scenario(name, [rate, f"workload.duration={duration}"])
        rest, plan = interval(scenario, policy)
    return round(rest * 1e3, 4), round(plan * 1e3, 4)


def interval(scenario: Scenario, policy: str) -> tuple[float, float]:
    """Seconds of an interval of one run without its plan, and of a plan."""
    workload = build_workload(scenario, 1)
    team = build_team(scenario, "assign", policy)
    timed = Timed(team["assign"])
    began = time.perf_counter()
    outcome = run(scenario, workload, 1, Team({**team.policies, "assign": timed}), policy)
    wall = time.perf_counter() - began
    intervals = max(outcome.meters["makespan_s"] / scenario.control.interval, 1.0)
    return (wall - timed.seconds) / intervals, timed.seconds / max(timed.plans, 1)


if __name__ == "__main__":
    measured = assign()
    keep("assign_ms", measured)
    print(json.dumps(measured, indent=1))
    print("\n".join(lines(measured["bars"])))
