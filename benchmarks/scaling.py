"""Learned scaling against the rules: ``python -m benchmarks.scaling [--seeds 1] [--hours 4]``.

Cost is capacity over offered load at equal violations, each rule at the best values of its own knob on the very
series that it is judged on. ``residual`` is asked for a violation rate and finds its margin while it runs. Of the
World Cup's series the later half is used, of the synthetic ones draws that training never saw.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.cli.frontier import Points, settings, sweep
from trimtab.report.frontier import TARGETS, frontier
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.workload.counts import read_series
from trimtab.workload.replace import with_trace

RULES = ["hpa", "kpa", "square-root"]
TRACE = "web/worldcup98_per_minute.csv"


def later_half(folder: Path, windows: int) -> str:
    """Evenly spaced two-hour windows of the second half of the World Cup's minutes, as a series of its own."""
    count = read_series(TRACE).count
    count = count[len(count) // 2 :]
    starts = np.linspace(0, len(count) - 120, windows + 2).astype(int)[1:-1]
    rows = np.concatenate([count[start : start + 120] for start in starts])
    path = folder / "worldcup-later.csv"
    path.write_text("minute,count\n" + "\n".join(f"{minute},{value:g}" for minute, value in enumerate(rows)) + "\n")
    return str(path)


def classes(folder: Path, hours: float) -> dict[str, Scenario]:
    """The series that are judged on."""
    length = f"workload.duration={hours * 3600:g}"
    found = {
        "bursty": load_scenario("autoscale-bursty", [length]),
        "spikes": load_scenario("autoscale-spikes", [length]),
    }
    if os.environ.get("TRIMTAB_TRACES"):
        path = later_half(folder, max(1, round(hours / 2)))
        found["worldcup"] = with_trace(load_scenario("autoscale-fibonacci"), path, whole=True)
    return found


def line(name: str, entry: dict[str, Any], what: str = "cost") -> str:
    """Costs and changes an hour at each target."""
    costs = [f"{entry[what][f'{t:g}']:.3f}" if f"{t:g}" in entry[what] else "    –" for t in TARGETS]
    changes = entry["changes_per_hour"].get("0.01")
    shown = "" if changes is None else f"   changes/h at 1 %: {changes:.0f}"
    return f"  {name:24}" + "  ".join(costs) + shown


def ratios(result: dict[str, Any], rival: str) -> str:
    """The cost of residual over that of a rule, target by target."""
    mine, theirs = result["policies"]["residual"]["cost"], result["policies"][rival]["cost"]
    shown = [
        f"{mine[key] / theirs[key]:.3f}" if key in mine and key in theirs else "    –" for key in map(_key, TARGETS)
    ]
    return f"  {'residual / ' + rival:24}" + "  ".join(shown)


def _key(target: float) -> str:
    return f"{target:g}"


def kept(points: Points) -> str:
    """Violation rates that were asked for, and what came."""
    shown = [f"{p[0] * 100:g} % → {p[1] * 100:.3g} %" for p in points["residual"] if p[0] in TARGETS]
    return "  asked for and kept:     " + ",  ".join(shown)


def joint(seeds: list[int], hours: float) -> None:
    """Horizontal and vertical together against horizontal alone, in core-seconds."""
    length = f"workload.duration={hours * 3600:g}"
    print("boost: core-seconds over offered load, start-up 30 s, CPU of an instance up to twice in place")
    found = {}
    for name, factor in ("joint", 2), ("instances only", 1):
        scenario = load_scenario("autoscale-boost", [length, f"parameters.residual.boost={factor}"])
        result = frontier(sweep(scenario, settings(scenario, ["residual"]), seeds, 1))
        found[name] = result["policies"]["residual"]
        print(line(name, found[name], "core_cost"), flush=True)
    both = [key for key in map(_key, TARGETS) if all(key in each["core_cost"] for each in found.values())]
    shown = [
        f"{key}: {found['joint']['core_cost'][key] / found['instances only']['core_cost'][key]:.3f}" for key in both
    ]
    print("  joint / instances only  " + ",  ".join(shown))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--hours", type=float, default=4.0)
    parser.add_argument("--only", help="bursty, spikes, worldcup or boost")
    given = parser.parse_args()
    seeds = list(range(1, given.seeds + 1))
    with tempfile.TemporaryDirectory() as folder:
        for name, scenario in classes(Path(folder), given.hours).items():
            if given.only not in (None, name):
                continue
            print(f"{name}: cost at " + ", ".join(f"{target * 100:g} %" for target in TARGETS) + " violations")
            points = sweep(scenario, settings(scenario, [*RULES, "residual"]), seeds, 1)
            result = frontier(points)
            for policy in (*RULES, "residual"):
                print(line(policy, result["policies"][policy]))
            for rival in RULES:
                print(ratios(result, rival))
            print(kept(points), flush=True)
    if given.only in (None, "boost"):
        joint(seeds, given.hours)


if __name__ == "__main__":
    main()
