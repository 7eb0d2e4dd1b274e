"""When cold starts happened."""

from __future__ import annotations

from trimtab.report.field import number
from trimtab.report.figure import Figure, Runs, axis, line, significant
from trimtab.report.sampling import thin


def cold_starts(runs: Runs) -> list[Figure]:
    """Cold starts so far, over time, in the first seed."""
    data = []
    for policy in runs.order:
        series = runs.first(policy).series
        if "cold_starts" in series and len(series["cold_starts"]) and series["cold_starts"][-1] > 0:
            time, values = thin(series["time"], series["cold_starts"], keep="last")
            hover = "%{y:.0f} cold starts by %{x:.0f} s<extra>" + policy + "</extra>"
            data.append(line(policy, runs.style[policy], significant(time, 6), significant(values, 6),
                             line={"shape": "hv"}, hovertemplate=hover))  # fmt: skip
    if not data:
        return []
    layout = {"xaxis": axis("time (s)"), "yaxis": axis("cold starts so far", rangemode="tozero")}
    shares = ", ".join(
        f"{policy} {number(value * 100)} %"
        for policy in runs.order
        if (value := runs.value(policy, "cold_start_rate")) is not None
    )
    return [Figure(
        "cold", "Cold starts",
        f"Containers started since the beginning, seed {runs.seed}. A steep part is a "
        "burst that met no warm container.",
        f"Cumulative cold starts over time. Share of requests that started cold: {shares}.", data, layout,
    )]  # fmt: skip
