"""Learned scaling against the rules: ``python -m benchmarks.scaling [--seeds 1] [--hours 4]``.

Cost is capacity over offered load at equal violations, each rule at the best values of its own knob on the very
series that it is judged on, seed by seed. ``residual`` is asked for a violation rate and finds its margin while it
runs. Of the World Cup's series the later half is used, of the synthetic ones draws that training never saw.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.cli.frontier import Points, settings, sweep
from trimtab.report.frontier import TARGETS, frontier
from trimtab.report.statistics import t_interval
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.workload.counts import read_series
from trimtab.workload.replace import with_trace

Floats = npt.NDArray[np.float64]

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
        "fibonacci": load_scenario("autoscale-fibonacci"),
    }
    if os.environ.get("TRIMTAB_TRACES"):
        path = later_half(folder, max(1, round(hours / 2)))
        found["worldcup"] = with_trace(load_scenario("autoscale-fibonacci"), path, whole=True)
    return found


def per_seed(scenario: Scenario, policies: list[str], seeds: list[int]) -> list[Points]:
    """Every policy at every value of its knob, seed by seed."""
    return [sweep(scenario, settings(scenario, policies), [seed], 1) for seed in seeds]


def mean_of(runs: list[Points]) -> Points:
    """Points averaged over seeds."""
    return {
        name: [tuple(np.mean(same, axis=0).tolist()) for same in zip(*(points[name] for points in runs), strict=True)]
        for name in runs[0]
    }


def line(name: str, entry: dict[str, Any], what: str = "cost") -> str:
    """Costs and changes an hour at each target."""
    costs = [f"{entry[what][key]:.3f}" if key in entry[what] else "    –" for key in map(_key, TARGETS)]
    changes = entry["changes_per_hour"].get("0.01")
    shown = "" if changes is None else f"   changes/h at 1 %: {changes:.0f}"
    return f"  {name:24}" + "  ".join(costs) + shown


def ratios(runs: list[Points], rival: str) -> str:
    """The cost of residual over that of a rule at equal violations: mean over seeds and 95 % interval."""
    fronts = [frontier(points)["policies"] for points in runs]
    shown = []
    for key in map(_key, TARGETS):
        pairs = [(front["residual"]["cost"].get(key), front[rival]["cost"].get(key)) for front in fronts]
        found = np.array([mine / other for mine, other in pairs if mine and other])
        shown.append(_mean(found) if len(found) else "–")
    return f"  {'residual / ' + rival:24}" + "  ".join(shown)


def _mean(values: Floats) -> str:
    interval = t_interval(values)
    shown = "" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"
    return f"{values.mean():.3f}{shown}"


def _key(target: float) -> str:
    return f"{target:g}"


def kept(runs: list[Points]) -> str:
    """What came over the violation rate that was asked for: mean over seeds, lowest and highest."""
    shown = []
    for target in TARGETS:
        found = np.array([p[1] / target for points in runs for p in points["residual"] if p[0] == target])
        shown.append(f"{target * 100:g} %: {found.mean():.2f} [{found.min():.2f}, {found.max():.2f}]")
    return "  came / asked for        " + ",  ".join(shown)


def show(name: str, runs: list[Points]) -> None:
    """The table of one class."""
    print(f"{name}: cost at " + ", ".join(f"{target * 100:g} %" for target in TARGETS) + " violations")
    result = frontier(mean_of(runs))
    for policy in (*RULES, "residual"):
        print(line(policy, result["policies"][policy]))
    for rival in RULES:
        print(ratios(runs, rival))
    print(kept(runs), flush=True)


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
    parser.add_argument("--only", help="bursty, spikes, fibonacci, worldcup or boost")
    given = parser.parse_args()
    seeds = list(range(1, given.seeds + 1))
    with tempfile.TemporaryDirectory() as folder:
        for name, scenario in classes(Path(folder), given.hours).items():
            if given.only not in (None, name):
                continue
            show(name, per_seed(scenario, [*RULES, "residual"], seeds))
    if given.only in (None, "boost"):
        joint(seeds, given.hours)


if __name__ == "__main__":
    main()
