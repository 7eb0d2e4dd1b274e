"""What an autoscaler did over time, and what users felt."""

from __future__ import annotations

import numpy as np

from trimtab.report.field import number
from trimtab.report.figure import Figure, Runs, axis, line, log_axis, significant
from trimtab.report.palette import VERMILLION
from trimtab.report.sampling import quantile_by_window, thin, windows
from trimtab.sim.outcome import COMPLETED

_WINDOWS = 120


def instances(runs: Runs) -> list[Figure]:
    """Instances over time in the first seed, where something decides about them."""
    if runs.summary["decision"] != "scale":
        return []
    data = []
    for policy in runs.order:
        series = runs.first(policy).series
        if "instances" in series and len(series["instances"]):
            time, values = thin(series["time"], series["instances"], 400)
            hover = "%{y:.1f} instances at %{x:.0f} s<extra>" + policy + "</extra>"
            data.append(line(policy, runs.style[policy], significant(time, 6), significant(values),
                             line={"shape": "hv"}, hovertemplate=hover))  # fmt: skip
    if not data:
        return []
    layout = {"xaxis": axis("time (s)"), "yaxis": axis("instances", rangemode="tozero")}
    said = ", ".join(
        f"{policy} {number(value)}" for policy in runs.order if (value := runs.value(policy, "instance_seconds"))
    )
    return [Figure(
        "instances", "Instances over time",
        f"Instances that were up or starting, seed {runs.seed}.",
        f"Instances over time. Instance-seconds: {said or 'not measured'}.", data, layout,
    )]  # fmt: skip


def latency(runs: Runs) -> list[Figure]:
    """95th percentile of completion time by window of arrival, with the deadline as a line."""
    if runs.summary["decision"] != "scale":
        return []
    data = []
    for policy in runs.order:
        run = runs.first(policy)
        answered = run.status == COMPLETED
        if not answered.any():
            continue
        time, window = windows(run.arrival[answered], _WINDOWS)
        values = quantile_by_window(run.fct[answered], window, _WINDOWS, 0.95)
        hover = "p95 %{y:.3~g} s at %{x:.0f} s<extra>" + policy + "</extra>"
        data.append(line(policy, runs.style[policy], significant(time, 6), significant(values),
                         hovertemplate=hover))  # fmt: skip
    if not data:
        return []
    shapes, annotations = _deadline(runs.deadline)
    shown = [runs.deadline, *(value for trace in data for value in trace["y"])]
    layout = {
        "xaxis": axis("time (s)"), "yaxis": log_axis("p95 completion time (s, logarithmic)", shown),
        "shapes": shapes, "annotations": annotations,
    }  # fmt: skip
    slo = f"; the line at {number(runs.deadline)} s is the objective" if runs.deadline else ""
    said = ", ".join(
        f"{policy} {number(value)} s" for policy in runs.order if (value := runs.value(policy, "p95_fct_s"))
    )
    return [Figure(
        "latency", "Latency over time",
        f"95th percentile of completion time by when requests arrived, seed {runs.seed}{slo}.",
        f"95th percentile of completion time over time. Overall: {said}.", data, layout,
    )]  # fmt: skip


def _deadline(seconds: float | None) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    if not seconds:
        return [], []
    level = float(np.log10(seconds))
    shape = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": seconds, "y1": seconds,
             "line": {"color": VERMILLION, "width": 1.5, "dash": "dot"}}  # fmt: skip
    # On a logarithmic axis a shape is placed by its value, an annotation by its logarithm.
    note = {"xref": "paper", "x": 1, "xanchor": "right", "y": level, "yanchor": "bottom", "showarrow": False,
            "text": f"objective {number(seconds)} s", "font": {"color": VERMILLION}}  # fmt: skip
    return [shape], [note]
