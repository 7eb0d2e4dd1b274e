"""The paper's figures drawn from our runs: 3 to 6."""

from __future__ import annotations

from typing import Any

from trimtab.papers.aset import reported
from trimtab.papers.aset.claims import CO, DC, FULL
from trimtab.papers.aset.experiments import WINDOW, Results, Setting
from trimtab.papers.charts import bars, lines, looks
from trimtab.papers.papertable import PaperTable
from trimtab.report.figure import Figure, axis, significant
from trimtab.report.palette import BLUE, FAINT, GREEN, ORANGE, PURPLE, SKY, VERMILLION

_COLOURS = dict(zip(reported.STATIC, (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, FAINT)))


def all_figures(results: Results, tables: dict[str, PaperTable]) -> list[Figure]:
    """In the order of the paper."""
    return [
        *_sequences(results), _applications(tables["figure-4"]),
        _over_time(results, "figure-5a", DC, "Fig. 5a: dc-cloud, simulated"),
        *_dc_high(results), _over_time(results, "figure-5c", CO, "Fig. 5c: co-dc-cloud"),
        _over_time(results, "figure-6a", FULL, "Fig. 6a: full-edge, λ = 60"), _sweep(tables["figure-6b"]),
        *_rejected_and_failed(tables["figure-6"]),
    ]  # fmt: skip


def _dc_high(results: Results) -> list[Figure]:
    high: Setting = ("dc-cloud", reported.HIGHEST_RATE)
    return [_over_time(results, "figure-5a-high", high, "Fig. 5a: dc-cloud, λ = 100")]


def _sequences(results: Results) -> list[Figure]:
    """Fig. 3: which policy the agent used, on a cloud topology and on an edge one."""
    if "aset" not in results.runs[DC] or "aset" not in results.runs[FULL]:
        return []
    seed = results.seeds[0]
    strips = {setting[0]: results.of(setting, "aset")[seed].bands for setting in (DC, FULL)}
    length = len(results.over_time(FULL, "aset")) * WINDOW
    spans = [(place, *span) for place, bands in strips.items() for span in _spans(bands, results.begin + length)]
    used = [name for name in _COLOURS if any(span[3] == name for span in spans)]
    if not used:
        return []
    data = [_strip(name, [span for span in spans if span[3] == name]) for name in used]
    layout = {"barmode": "overlay", "xaxis": axis("time (s)"), "yaxis": axis("", type="category")}
    return [Figure(
        "figure-3", "Fig. 3: the policies that the agent chose",
        f"One run on a cloud topology and one on full-edge, seed {seed}; the colour is the policy in use.",
        f"Policies used: {', '.join(used)}.", data, layout, 200, legend=[(name, _COLOURS[name]) for name in used],
    )]  # fmt: skip


def _spans(bands: list[tuple[float, str]], end: float) -> list[tuple[float, float, str]]:
    ends = [moment for moment, _ in bands[1:]] + [max(end, bands[-1][0])] if bands else []
    return [(start, stop - start, name) for (start, name), stop in zip(bands, ends)]


def _strip(name: str, spans: list[tuple[str, float, float, str]]) -> dict[str, Any]:
    return {
        "type": "bar", "orientation": "h", "name": name, "showlegend": False, "marker": {"color": _COLOURS[name]},
        "y": [span[0] for span in spans], "base": significant([span[1] for span in spans], 6),
        "x": significant([span[2] for span in spans], 6),
        "hovertemplate": name + " from %{base:.0f} s<extra>%{y}</extra>",
    }  # fmt: skip


def _applications(table: PaperTable) -> Figure:
    """Fig. 4 as a map: applications by policy."""
    names, policies = list(table.rows)[::-1], list(table.columns)
    values = [[cell.ours for cell in table.rows[name]] for name in names]
    texts = [["" if value is None else f"{value:.0f}" for value in row] for row in values]
    data = [{
        "type": "heatmap", "x": policies, "y": names, "z": [significant(row) for row in values], "text": texts,
        "texttemplate": "%{text}", "colorscale": "Viridis", "zmin": 0, "zmax": 100,
        "colorbar": {"title": {"text": "%"}, "thickness": 12}, "hovertemplate": "%{y}, %{x}: %{z:.1f} %<extra></extra>",
    }]  # fmt: skip
    layout = {"xaxis": axis("", type="category"), "yaxis": axis("", type="category")}
    best = "; ".join(
        f"{name}: {max(zip(row, policies), key=lambda pair: pair[0] or 0.0)[1]}" for name, row in zip(names, values)
    )
    return Figure(
        "figure-4", table.title, table.caption, f"Best policy by application: {best}.", data, layout,
        120 + 30 * len(names),
    )  # fmt: skip


def _over_time(results: Results, name: str, setting: Setting, title: str) -> Figure:
    policies = list(results.runs[setting])
    curves = {}
    for policy in policies:
        values = results.over_time(setting, policy)
        curves[policy] = ([results.begin + (index + 0.5) * WINDOW for index in range(len(values))], values.tolist())
    return lines(
        name, title, "Successful queries by when they arrived, all seeds together.", curves,
        looks(policies, "aset", None), "time (s)", "success (%)",
    )  # fmt: skip


def _sweep(table: PaperTable) -> Figure:
    rates = [float(name.removeprefix("λ = ")) for name in table.rows]
    curves = {}
    for index, policy in enumerate(table.columns):
        curves[policy] = (rates, [float(cells[index].ours or 0.0) for cells in table.rows.values()])
    return lines(
        "figure-6b", table.title, table.caption, curves, looks(list(table.columns), "aset", None),
        "clients a minute (λ)", "success (%)",
    )  # fmt: skip


def _rejected_and_failed(table: PaperTable) -> list[Figure]:
    found = []
    for index, (letter, word) in enumerate((("c", "rejected"), ("d", "failed")), start=1):
        values: list[Any] = [cells[index].ours for cells in table.rows.values()]
        found.append(bars(
            f"figure-6{letter}", f"Fig. 6{letter}: {word} queries, full-edge at λ = 60", "Mean over seeds.",
            list(table.rows), values, [None] * len(values), "%",
        ))  # fmt: skip
    return found
