"""ASET against the seven policies that it selects from: success by topology and load, paired by seed.

    python -m benchmarks.selection [--seeds 20] [--topologies full-edge] [--rates 60,100] [--aset FOLDER]

For each topology and rate: every static policy, ``aset`` with its guard and without, and the difference to the
best of the seven with a 95 % interval. Prints a line as soon as a topology and rate is done.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.control.run import Team, build_team, run
from trimtab.policies.select.contract import CANDIDATES
from trimtab.report.statistics import t_interval
from trimtab.scenario.load import load_scenario
from trimtab.workload.build import build_workload

TOPOLOGIES = "full-edge,co-dc-cloud,dc-cloud"
RATES = "20,40,60,80,100"
SEVEN = CANDIDATES["route"]

Floats = npt.NDArray[np.float64]


def teams(scenario: Any, aset: str) -> dict[str, Team]:
    """Everything that is compared."""
    found = {name: build_team(scenario, "route", name) for name in SEVEN}
    found["aset"] = build_team(scenario, "select", aset)
    found["aset without guard"] = build_team(scenario, "select", aset, {"guard": False})
    return found


def success(scenario: Any, seeds: range, aset: str) -> dict[str, Floats]:
    """Points of success by policy and seed."""
    reached: dict[str, list[float]] = {}
    for seed in seeds:
        workload = build_workload(scenario, seed)
        for name, team in teams(scenario, aset).items():
            outcome = run(scenario, workload, seed, team.copy(), name)
            good = (outcome.status == 0) & ~outcome.late & outcome.accurate
            reached.setdefault(name, []).append(100.0 * float(good.mean()))
    return {name: np.array(values) for name, values in reached.items()}


def line(title: str, reached: dict[str, Floats]) -> str:
    """One topology and rate."""
    best = max(SEVEN, key=lambda name: reached[name].mean())
    parts = [f"{title:24} best of seven: {best} {reached[best].mean():.2f}"]
    for name in ("aset", "aset without guard"):
        change = reached[name] - reached[best]
        low, high = t_interval(change) or (change.mean(), change.mean())
        parts.append(f"{name} {reached[name].mean():.2f} ({change.mean():+.2f} [{low:+.2f}, {high:+.2f}])")
    return "; ".join(parts)


def main() -> None:
    """Read options, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--topologies", default=TOPOLOGIES)
    parser.add_argument("--rates", default=RATES)
    parser.add_argument("--aset", default="aset", help="another trained folder in place of the one that ships")
    options = parser.parse_args()
    for topology in options.topologies.split(","):
        for rate in options.rates.split(","):
            scenario = load_scenario(f"aset-{topology}", [f"workload.rate={rate}"])
            reached = success(scenario, range(1, options.seeds + 1), options.aset)
            print(line(f"{topology}, {rate} clients/min", reached), flush=True)


if __name__ == "__main__":
    main()
