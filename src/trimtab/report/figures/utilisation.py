"""How busy each host was over time, as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.report.figure import Figure, Runs, axis, significant
from trimtab.report.sampling import coarse, thin

_MOST_CELLS = 16_000
"""Cells of one policy's map; a page has one for every policy."""


def utilisation(runs: Runs) -> list[Figure]:
    """One map at a time, the best policy's at first."""
    first = [runs.best, *([runs.baseline] if runs.baseline not in (None, runs.best) else [])]
    policies = first + [policy for policy in runs.order if policy not in first]
    data = [_map(runs, str(policy), index == 0) for index, policy in enumerate(policies) if _has(runs, str(policy))]
    if not data:
        return []
    hosts = max(len(trace["y"]) for trace in data)
    layout = {"xaxis": axis("time (s)"), "yaxis": axis("", type="category", autorange="reversed")}
    run = runs.first(runs.best)
    means = ", ".join(
        f"{policy} {value * 100:.0f} %" for policy in runs.order if (value := runs.value(policy, "cpu_utilisation"))
    )
    left_out = len(run.hosts) - hosts
    return [Figure(
        "utilisation", "How busy each host was",
        f"CPU utilisation of each host, seed {run.seed}; even columns mean that work is spread evenly."
        + (f" {left_out} further hosts are not shown." if left_out > 0 else ""),
        f"Heat map of CPU utilisation by host and time. Mean utilisation: {means or 'not measured'}.",
        data, layout, min(700, 160 + max(6, 22 if hosts <= 25 else 600 // hosts) * hosts),
        choices=[trace["name"] for trace in data],
    )]  # fmt: skip


def _has(runs: Runs, policy: str) -> bool:
    return runs.first(policy).host_utilisation.size > 0


def _map(runs: Runs, policy: str, shown: bool) -> dict[str, Any]:
    run = runs.first(policy)
    hosts = run.host_utilisation.shape[0]
    most = max(20, min(240, _MOST_CELLS // hosts))
    time, _ = thin(run.host_time, run.host_time, most)
    percents = np.rint(np.nan_to_num(coarse(run.host_utilisation, most)) * 100).astype(int)
    names = list(run.hosts[:hosts]) + [f"host {index}" for index in range(len(run.hosts), hosts)]
    return {
        "type": "heatmap", "name": policy, "x": significant(time, 5), "y": names, "z": percents.tolist(),
        "zmin": 0, "zmax": 100, "visible": shown, "colorscale": "Cividis",
        "colorbar": {"title": {"text": "CPU %"}, "thickness": 12},
        "hovertemplate": "%{y}: %{z} % at %{x:.0f} s<extra>" + policy + "</extra>",
    }  # fmt: skip
