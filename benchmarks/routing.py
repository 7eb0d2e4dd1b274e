"""``python -m benchmarks.routing``: the learned router beside every rule, over topologies and loads.

Success and rejections in percent of queries, means over seeds that training never saw. The difference is
``rank`` less the other, paired by seed, with its 95 % interval; "+ drops" is a rule whose workers drop queries
that are late already, so that what dropping alone brings can be told from what was learned.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.policies import registry
from trimtab.report.statistics import t_interval
from trimtab.scenario.load import load_scenario
from trimtab.sim.records import COMPLETED, REJECTED
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload
from trimtab.workload.table import Workload

TOPOLOGIES = ("aset-full-edge", "aset-co-dc-cloud", "aset-dc-cloud")
RATES = (20, 60, 100)
SEVEN = (
    "closest", "load-balancing", "farthest", "cheaper", "random-proportional-latency", "random-proportional-load",
    "least-impedance",
)  # fmt: skip
"""Of the ASET paper."""
RULES = ("power-of-two", "shortest-delay", "early-reject", "relative-load", "scarcity")
DROPPING = ("relative-load + drops", "scarcity + drops")
OURS = "rank"
POLICIES = (*SEVEN, *RULES, *DROPPING, OURS)

Floats = npt.NDArray[np.float64]
Figures = dict[str, tuple[Floats, Floats]]
"""Policy → success and rejections in percent, one a seed."""


def policy_of(name: str) -> Any:
    """A policy by its name in the table."""
    rule, _, drops = name.partition(" + ")
    found = registry.load("route", rule)
    return replace(found, drops_late=True) if drops else found


def outcome(workload: Workload, simulation: Simulation) -> tuple[float, float]:
    """Success and rejections after the warm-up, in percent of queries."""
    simulation.advance()
    rows = simulation.core.results[int(np.searchsorted(workload.arrival, workload.warm_up)) :]
    good = (rows["status"] == COMPLETED) & (rows["late"] == 0) & (rows["accurate"] == 1)
    return 100.0 * float(good.mean()), 100.0 * float((rows["status"] == REJECTED).mean())


def figures(topology: str, rate: float, seeds: range, names: tuple[str, ...] = POLICIES) -> Figures:
    """Every policy on the same workloads."""
    scenario = load_scenario(topology, [f"workload.rate={rate}"])
    policies = {name: policy_of(name) for name in names}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for seed in seeds:
        workload = build_workload(scenario, seed)
        for name, policy in policies.items():
            found[name].append(outcome(workload, Simulation(scenario, workload, seed, route=policy)))
    return {name: (np.array(rows)[:, 0], np.array(rows)[:, 1]) for name, rows in found.items()}


def best_of_seven(found: Figures) -> str:
    """The paper's policy with the highest mean success."""
    return max((name for name in SEVEN if name in found), key=lambda name: float(found[name][0].mean()))


def lines(topology: str, rate: float, found: Figures) -> Iterator[str]:
    """The table of one topology and load."""
    best = best_of_seven(found)
    yield f"{topology}, {rate:g} clients a minute, {len(found[OURS][0])} seeds (best of the paper's seven: {best})"
    yield f"  {'policy':<28} {'success':>8} {'rejected':>9}   rank less this one"
    for name, (success, rejected) in found.items():
        told = "" if name == OURS else _difference(found[OURS][0] - success)
        mark = "*" if name == best else " "
        yield f"{mark} {name:<28} {success.mean():>8.2f} {rejected.mean():>9.2f}   {told}"


def _difference(values: Floats) -> str:
    interval = t_interval(values)
    told = f"{values.mean():+.2f}"
    return told if interval is None else f"{told} [{interval[0]:+.2f}, {interval[1]:+.2f}]"


def main() -> None:
    """Measure and print, table by table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.routing", description="the router beside every rule")
    parser.add_argument("--seeds", type=int, default=20, help="seeds 1 to this one")
    parser.add_argument("--topologies", default=",".join(TOPOLOGIES))
    parser.add_argument("--rates", default=",".join(map(str, RATES)), help="clients a minute")
    given = parser.parse_args()
    for topology in given.topologies.split(","):
        for rate in given.rates.split(","):
            found = figures(topology, float(rate), range(1, given.seeds + 1))
            print("\n".join(lines(topology, float(rate), found)), flush=True)


if __name__ == "__main__":
    main()
