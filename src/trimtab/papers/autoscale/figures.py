"""The slides' curves by episode, and what the policies do over a day."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trimtab.papers.autoscale.experiments import HORIZONTAL, INSTANCES, LATENCY, REWARD, VERTICAL, Results
from trimtab.papers.charts import Points, lines, looks
from trimtab.papers.claim import NotTestable
from trimtab.papers.learned import Learned
from trimtab.report.figure import Figure, log_axis
from trimtab.report.palette import VERMILLION

_HIDDEN = ("threshold-memory",)
"""Left out of the latency chart: it ends thousands of seconds late, and nothing else could be seen."""


def all_figures(results: Results) -> list[Figure]:
    """Horizontal, vertical, then a day with each policy."""
    horizontal, vertical = results.learned[HORIZONTAL], results.learned[VERTICAL]
    return [
        *_curves(results, horizontal, "horizontal", "instances", lambda: results.curve(HORIZONTAL, INSTANCES)),
        *_curves(results, vertical, "vertical", "millicores of an instance",
                 lambda: results.millicores(VERTICAL)),
        *_days(results),
    ]  # fmt: skip


def _curves(
    results: Results, learned: Learned, words: str, size: str, sizes: Callable[[], list[float]]
) -> list[Figure]:
    """Reward, tail latency and size by episode, as far as the learning curve has them."""
    objective = {"shapes": [_level(results.objective)]}
    parts: tuple[tuple[str, str, Callable[[], list[float]], dict[str, Any]], ...] = (
        ("reward", "reward", lambda: learned.column(REWARD), {}),
        ("latency", "tail latency (s)", lambda: learned.column(LATENCY), objective),
        ("size", size, sizes, {}),
    )
    return [
        figure
        for name, up, values, more in parts
        for figure in _curve(learned, f"{words}-{name}", words, up, values, more)
    ]


def _curve(
    learned: Learned, name: str, words: str, up: str, values: Callable[[], list[float]], more: dict[str, Any]
) -> list[Figure]:
    try:
        found = values()
    except NotTestable:
        return []
    units = [float(point["unit"]) for point in learned.curve][: len(found)]
    line = " The line is the QoS requirement." if more else ""
    return [lines(
        name, f"Slides, {words}: {up} by episode", f"Learning curve of {learned.name}.{line}",
        {learned.name: (units, found)}, looks([learned.name], learned.name, None), "episode", up,
        half=not name.endswith("reward"), height=300, **more,
    )]  # fmt: skip


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
              "time (s)", "instances", learned=HORIZONTAL, xaxis=_day(results)),
        lines("latency", "Tail latency over time",
              f"99th percentile of completion time by when requests arrived, seed {seed}; the line is the requirement. "
              f"Not shown, because it is far above: {', '.join(_HIDDEN)}.", slow, style, "time (s)", "latency (s)",
              learned=HORIZONTAL, yaxis=scale, shapes=[_level(results.objective)]),
    ]  # fmt: skip


def _day(results: Results) -> dict[str, Any]:
    """The time in which requests arrive: a rule that collapses goes on for hours after."""
    ends = [x[-1] for runs in results.runs.values() for x, _ in [runs[results.seeds[0]].latency] if x]
    return {"title": {"text": "time (s)"}, "automargin": True, "zeroline": False, "range": [0, max(ends, default=1.0)]}


def _level(seconds: float) -> dict[str, Any]:
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": seconds, "y1": seconds,
            "line": {"color": VERMILLION, "width": 1.5, "dash": "dot"}}  # fmt: skip
