"""What became of queries: by application (ASET's Fig. 4) and over time (Fig. 5a and 6a)."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.report.figure import Figure, Runs, axis, line, significant
from trimtab.report.groups import PARTS, part_of
from trimtab.report.palette import FAINT, GREEN, ORANGE, PURPLE, VERMILLION
from trimtab.report.sampling import windows

_COLOURS = dict(zip(PARTS, (GREEN, ORANGE, PURPLE, VERMILLION, FAINT)))
_MOST_APPLICATIONS = 8


def by_application(runs: Runs) -> list[Figure]:
    """A stacked bar for each policy, a chart for each application."""
    applications: dict[str, Any] = runs.summary.get("applications", {})
    return [_stack(runs, name, shares) for name, shares in list(applications.items())[:_MOST_APPLICATIONS]]


def success_over_time(runs: Runs) -> list[Figure]:
    """Share of queries answered in time and accurately, by window of arrival, all seeds together."""
    if not any(run.has_streams or run.has_deadline for run in runs.outcomes):
        return []
    data = []
    for policy in runs.order:
        arrivals = np.concatenate([run.arrival for run in runs.of(policy)])
        if len(arrivals) == 0:
            continue
        good = np.concatenate([part_of(run) == 0 for run in runs.of(policy)])
        time, window = windows(arrivals)
        total = np.bincount(window, minlength=len(time))
        share = np.bincount(window, weights=good, minlength=len(time)) / np.where(total > 0, total, np.nan)
        hover = "%{y:.1f} % at %{x:.0f} s<extra>" + policy + "</extra>"
        data.append(line(policy, runs.style[policy], significant(time, 5), significant(share * 100),
                         hovertemplate=hover))  # fmt: skip
    layout = {"xaxis": axis("time (s)"), "yaxis": axis("success (%)")}
    rates = ", ".join(f"{policy} {(runs.value(policy, 'success_rate') or 0) * 100:.1f} %" for policy in runs.order)
    return [Figure(
        "success", "Success over time",
        "Share of requests answered in time and accurately enough, by when they arrived, all seeds together.",
        f"Success over time by policy. Overall: {rates}.", data, layout,
    )]  # fmt: skip


def _stack(runs: Runs, application: str, shares: dict[str, dict[str, float]]) -> Figure:
    policies = [policy for policy in reversed(runs.order) if policy in shares]
    data = [
        {
            "type": "bar", "orientation": "h", "name": part, "y": policies, "showlegend": False,
            "x": significant([shares[policy][part] * 100 for policy in policies]),
            "marker": {"color": _COLOURS[part]},
            "hovertemplate": "%{y}: %{x:.1f} % " + part + "<extra></extra>",
        }
        for part in PARTS
    ]  # fmt: skip
    layout = {
        "barmode": "stack",
        "xaxis": axis("queries (%)", range=[0, 100]),
        "yaxis": axis("", type="category"),
    }
    said = ", ".join(f"{policy} {shares[policy]['success'] * 100:.1f} %" for policy in reversed(policies))
    return Figure(
        f"application-{application}", f"What became of the queries of “{application}”",
        "Success: answered in time by a model that is accurate enough.",
        f"Success for {application}: {said}.", data, layout, 120 + 24 * len(policies),
        legend=[(part, _COLOURS[part]) for part in PARTS], half=True,
    )  # fmt: skip
