"""Milliseconds an interval of the engine and of assign policies, at 100 hosts."""

from __future__ import annotations

import time

from trimtab.control.run import build_team, run
from trimtab.scenario.load import load_scenario
from trimtab.workload.build import build_workload


def assign() -> dict[str, float]:
    """The whole interval, and the plan alone, for a cheap heuristic on 100 hosts."""
    scenario = load_scenario("assign-batch", ["hosts.0.count=60", "hosts.1.count=20", "hosts.2.count=20"])
    workload = build_workload(scenario, 1)
    team = build_team(scenario, "assign", "cheap-fit")
    run(scenario, workload, 1, team, "cheap-fit")
    began = time.perf_counter()
    outcome = run(scenario, workload, 1, team, "cheap-fit")
    intervals = max(outcome.meters["makespan_s"] / scenario.control.interval, 1.0)
    total = (time.perf_counter() - began) / intervals
    plan = outcome.decision_seconds / max(outcome.decisions, 1)
    return {"engine_100": round((total - plan) * 1e3, 4), "cheap_fit_100": round(plan * 1e3, 4)}
