"""How long requests took: the whole distribution, and its quartiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.report.field import number
from trimtab.report.figure import Figure, Runs, axis, line, log_axis, significant
from trimtab.sim.outcome import COMPLETED

# Every half per cent, and finer where tails differ.
LEVELS = np.unique(np.r_[np.linspace(0.005, 1, 200), 0.9925, 0.9975, 0.999, 0.9995, 0.9999])
"""Shares of requests at which a distribution is drawn."""


def cumulative(runs: Runs) -> list[Figure]:
    """Share of requests answered within a time, by policy."""
    data: list[dict[str, Any]] = []
    for policy in runs.order:
        times = _times(runs, policy)
        if len(times):
            hover = "%{y:.1f} % within %{x:.3~g} s<extra>" + policy + "</extra>"
            data.append(line(policy, runs.style[policy], significant(np.quantile(times, LEVELS)),
                             significant(LEVELS * 100), hovertemplate=hover))  # fmt: skip
    if not data:
        return []
    times_shown = [time for trace in data for time in trace["x"]]
    layout = {"xaxis": log_axis("completion time (s, logarithmic)", times_shown),
              "yaxis": axis("requests answered (%)", range=[0, 100.5])}  # fmt: skip
    return [Figure(
        "distribution", "How long requests took",
        "Share of requests answered within a time, all seeds together. Further left is faster; where lines "
        "cross, one policy is better for quick requests and the other for slow ones.",
        f"Cumulative distribution of completion time. {_medians(runs)}", data, layout,
    )]  # fmt: skip


def boxes(runs: Runs) -> list[Figure]:
    """Quartiles, 5th and 95th percentile, and mean by policy."""
    data: list[dict[str, Any]] = []
    for policy in reversed(runs.order):
        times = _times(runs, policy)
        if len(times) == 0:
            continue
        low, first, middle, third, high = np.quantile(times, [0.05, 0.25, 0.5, 0.75, 0.95])
        style = runs.style[policy]
        data.append({
            "type": "box", "orientation": "h", "name": policy, "y": [policy], "showlegend": False,
            "q1": significant([first]), "median": significant([middle]), "q3": significant([third]),
            "lowerfence": significant([low]), "upperfence": significant([high]),
            "mean": significant([times.mean()]), "boxmean": True, "line": {"color": style.bar, "width": 1.5},
        })  # fmt: skip
    if not data:
        return []
    ends = [bound for trace in data for bound in trace["lowerfence"] + trace["upperfence"]]
    layout = {
        "xaxis": log_axis("completion time (s, logarithmic)", ends),
        "yaxis": axis("", type="category"),
    }
    return [Figure(
        "boxes", "Typical and extreme times",
        "Box: the middle half of all requests, with the median as a line and the mean dashed; whiskers: 5th "
        "and 95th percentile. Best policy on top.",
        f"Box plot of completion time by policy. {_medians(runs)}", data, layout, 130 + 26 * len(data),
    )]  # fmt: skip


def _times(runs: Runs, policy: str) -> npt.NDArray[np.float64]:
    return np.concatenate([run.fct[run.status == COMPLETED] for run in runs.of(policy)])


def _medians(runs: Runs) -> str:
    parts = [
        f"{policy} {number(value)} s" for policy in runs.order if (value := runs.value(policy, "p50_fct_s")) is not None
    ]
    return f"Medians: {', '.join(parts)}."
