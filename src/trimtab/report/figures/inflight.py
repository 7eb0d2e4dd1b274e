"""Requests in flight over time (FaaSRank's Fig. 7)."""

from __future__ import annotations

import numpy as np

from trimtab.report.field import number
from trimtab.report.figure import Figure, Runs, axis, line, significant
from trimtab.report.sampling import Floats, thin
from trimtab.sim.outcome import Outcome


def inflight(runs: Runs) -> list[Figure]:
    """In-flight requests of the first seed, by policy."""
    data = []
    for policy in runs.order:
        series = runs.first(policy).series
        if "inflight" in series and len(series["inflight"]):
            time, values = thin(series["time"], series["inflight"])
            hover = "%{y:.1f} in flight at %{x:.0f} s<extra>" + policy + "</extra>"
            data.append(line(policy, runs.style[policy], significant(time, 6), significant(values),
                             hovertemplate=hover))  # fmt: skip
    if not data:
        return []
    layout = {"xaxis": axis("time (s)"), "yaxis": axis("requests in flight", rangemode="tozero")}
    means = [f"{policy} {number(value)}" for policy in runs.order if (value := runs.value(policy, "mean_inflight"))]
    return [Figure(
        "inflight", "Requests in flight",
        f"Requests that had arrived and were not yet answered, seed {runs.seed}."
        f"{_lower(runs)}",
        f"Requests in flight over time. Means: {', '.join(means) or 'not measured'}.", data, layout,
    )]  # fmt: skip


def share_lower(ours: Outcome, theirs: Outcome) -> float:
    """Share of the time, until both have finished, in which ``ours`` has fewer requests in flight."""
    moments = np.union1d(ours.series["time"], theirs.series["time"])
    if len(moments) < 2:
        return 0.0
    lower = _at(ours, moments) < _at(theirs, moments)
    spans = np.diff(moments)
    return float(spans[lower[:-1]].sum() / spans.sum())


def _at(outcome: Outcome, moments: Floats) -> Floats:
    """The last sample at or before each moment."""
    index = np.searchsorted(outcome.series["time"], moments, side="right") - 1
    return np.where(index >= 0, outcome.series["inflight"][np.maximum(index, 0)], 0.0)


def _lower(runs: Runs) -> str:
    if runs.baseline is None or runs.best == runs.baseline:
        return ""
    ours, theirs = runs.first(runs.best), runs.first(runs.baseline)
    if not all("inflight" in run.series for run in (ours, theirs)):
        return ""
    fewer, more = share_lower(ours, theirs) * 100, share_lower(theirs, ours) * 100
    shares = f"{fewer:.0f} % of the time, and more {more:.0f} %"
    return f" {runs.best} had fewer in flight than {runs.baseline} {shares}."
