"""The slides' curves by episode, and what the policies do over a day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trimtab.papers.autoscale.experiments import CPU, HORIZONTAL, INSTANCES, LATENCY, VERTICAL, Results
from trimtab.papers.charts import Points, lines, looks
from trimtab.papers.learned import Learned
from trimtab.report.figure import Figure, log_axis
from trimtab.report.palette import VERMILLION

_HIDDEN = ("threshold-memory",)
"""Left out of the latency chart: it ends thousands of seconds late, and nothing else could be seen."""


def all_figures(results: Results) -> list[Figure]:
    """Horizontal, vertical, then a day with each policy."""
    found = []
    for name, words, last in (
        (HORIZONTAL, "horizontal", (INSTANCES, "instances", 1.0)),
        (VERTICAL, "vertical", (CPU, "millicores of an instance", 1000.0)),
    ):
        learned = results.learned[name]
        found += _curve(learned, ("reward",), f"{words}: reward by episode", "reward", 1.0, {})
        found += _curve(learned, LATENCY, f"{words}: tail latency by episode", "tail latency (s)", 1.0,
                        {"shapes": [_level(results.objective)]})  # fmt: skip
        found += _curve(learned, last[0], f"{words}: {last[1]} by episode", last[1], last[2], {})
    return [*found, *_days(results)]


def _curve(
    learned: Learned, names: Sequence[str], title: str, up: str, scale: float, more: dict[str, Any]
) -> list[Figure]:
    points = [
        (float(point["unit"]), scale * float(point[name]))
        for name in _first_known(learned, names)
        for point in learned.curve
        if point.get(name) is not None
    ]
    if not points:
        return []
    units, values = [point[0] for point in points], [point[1] for point in points]
    line = "" if "shapes" not in more else " The line is the QoS requirement."
    return [lines(
        f"{learned.name}-{up.partition(' ')[0]}", f"Slides, {title}", f"Learning curve of {learned.name}.{line}",
        {learned.name: (units, values)}, looks([learned.name], learned.name, None), "episode", up, half=False,
        height=300, **more,
    )]  # fmt: skip


def _first_known(learned: Learned, names: Sequence[str]) -> list[str]:
    return [name for name in names if any(name in point for point in learned.curve)][:1]


def _days(results: Results) -> list[Figure]:
    seed = results.seeds[0]
    style = looks(list(results.runs), HORIZONTAL, "threshold-cpu")
    up: dict[str, Points] = {policy: runs[seed].instances for policy, runs in results.runs.items()}
    slow: dict[str, Points] = {
        policy: runs[seed].latency for policy, runs in results.runs.items() if policy not in _HIDDEN
    }
    values = [value for _, points in slow.values() for value in points]
    scale = log_axis("p99 completion time (s, logarithmic)", [*values, results.objective])
    return [
        lines("instances", "Instances over time", f"Instances that were up or starting, seed {seed}.", up, style,
              "time (s)", "instances", xaxis=_day(results)),
        lines("latency", "Tail latency over time",
              f"99th percentile of completion time by when requests arrived, seed {seed}; the line is the requirement. "
              f"Not shown, because it is far above: {', '.join(_HIDDEN)}.", slow, style, "time (s)", "latency (s)",
              yaxis=scale, shapes=[_level(results.objective)]),
    ]  # fmt: skip


def _day(results: Results) -> dict[str, Any]:
    """The time in which requests arrive: a rule that collapses goes on for hours after."""
    ends = [x[-1] for runs in results.runs.values() for x, _ in [runs[results.seeds[0]].latency] if x]
    return {"title": {"text": "time (s)"}, "automargin": True, "zeroline": False, "range": [0, max(ends, default=1.0)]}


def _level(seconds: float) -> dict[str, Any]:
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": seconds, "y1": seconds,
            "line": {"color": VERMILLION, "width": 1.5, "dash": "dot"}}  # fmt: skip
