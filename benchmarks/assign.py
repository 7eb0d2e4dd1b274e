"""Milliseconds an interval of the engine and of assign policies, at 100 hosts."""

from __future__ import annotations

import time

from trimtab.control.run import build_team, run
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload

SCHEDULERS = ("gobi", "gosh", "graf")


def assign() -> dict[str, float]:
    """The engine's own time, and the time of a plan for a cheap heuristic and for searches, on 100 hosts.

    Searches plan for about 100 tasks.
    """
    scenario = load_scenario("assign-batch", ["hosts.0.count=60", "hosts.1.count=20", "hosts.2.count=20"])
    total, plan = _seconds(scenario, "cheap-fit")
    found = {"engine_100": total - plan, "cheap_fit_100": plan}
    busy = load_scenario("metanet-azure100", ["workload.rate=1.9", "workload.duration=2000"])
    for name in SCHEDULERS:
        found[f"{name}_100"] = _seconds(busy, name)[1]
    return {name: round(seconds * 1e3, 4) for name, seconds in found.items()}


def _seconds(scenario: Scenario, policy: str) -> tuple[float, float]:
    """Of a whole interval, and of its plan, once everything is compiled."""
    workload = build_workload(scenario, 1)
    team = build_team(scenario, "assign", policy)
    run(scenario, workload, 1, team, policy)
    began = time.perf_counter()
    outcome = run(scenario, workload, 1, team, policy)
    intervals = max(outcome.meters["makespan_s"] / scenario.control.interval, 1.0)
    return (time.perf_counter() - began) / intervals, outcome.decision_seconds / max(outcome.decisions, 1)
