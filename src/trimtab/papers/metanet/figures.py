"""Fig. 3, and what the paper does not draw: costs by policy, choices of the selectors, the load sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trimtab.papers.charts import bars, lines, looks
from trimtab.papers.metanet.reported import METANET
from trimtab.papers.metanet.results import BASE, SHIFT, Results, Setting, place_of
from trimtab.papers.papertable import PaperTable
from trimtab.report.figure import Figure, axis, line, significant
from trimtab.report.palette import BLUE, FAINT, GREEN, MUTED, ORANGE, PURPLE, SKY, VERMILLION, Style

_CYCLE = (ORANGE, GREEN, BLUE, PURPLE, SKY, VERMILLION, MUTED, FAINT)
_MOST_BANDS = 500
_SHOWN = 3
"""Policies whose predicted cost is drawn, as in the paper."""
_FAR = ("random", "round-robin")
"""Left out of the sweep's chart: at two to three times the cost of all others, which could not be told apart."""


def all_figures(results: Results, tables: dict[str, PaperTable]) -> list[Figure]:
    """The paper's first."""
    return [
        *_predictions(results, BASE), *_predictions(results, SHIFT),
        *(_costs(tables[f"policies-{place_of(setting)}"]) for setting in (BASE, SHIFT)),
        *_choices(tables), _sweep(tables["sweep"]),
    ]  # fmt: skip


def _predictions(results: Results, setting: Setting) -> list[Figure]:
    """Fig. 3: predicted costs of the three policies selected most, the one selected as the background."""
    seed = results.seeds[0]
    found = results.runs[setting].get(METANET, {}).get(seed)
    if found is None or not found.estimates or not found.bands:
        return []
    used = list(results.shares(setting, METANET))
    colours = {name: _CYCLE[index % len(_CYCLE)] for index, name in enumerate(used)}
    end = results.lengths[setting]
    estimates = [(moment, costs) for moment, costs in found.estimates if moment < end]
    data = [_estimate(name, colours[name], estimates, results.interval) for name in used[:_SHOWN]]
    layout = {
        "xaxis": axis("interval", range=[0, end / results.interval]), "yaxis": axis("predicted cost φ̂ (USD a task)"),
        "shapes": _background(found.bands, colours, end, results.interval),
    }  # fmt: skip
    return [Figure(
        f"figure-3-{place_of(setting)}", f"Fig. 3: predicted costs and the scheduler selected, {setting[0]}",
        f"Lines: cost of the next interval that MetaNet predicts for the {len(data)} policies that it selected most, "
        f"seed {seed}. Background: the policy that it selected" + _only_first(found.bands) + ".",
        f"Selected most: {', '.join(used[:_SHOWN])}.", data, layout,
        legend=[(name, colours[name]) for name in used[_SHOWN:]],  # the others are there as lines
    )]  # fmt: skip


def _only_first(bands: Sequence[tuple[float, str]]) -> str:
    return f", up to the {_MOST_BANDS}th change of {len(bands) - 1}" if len(bands) > _MOST_BANDS else ""


def _estimate(
    name: str, colour: str, estimates: Sequence[tuple[float, dict[str, float]]], interval: float
) -> dict[str, Any]:
    there = [(moment / interval, costs[name]) for moment, costs in estimates if name in costs]
    return line(
        name, Style(colour, "solid", True), significant([x for x, _ in there], 6), significant([y for _, y in there]),
        hovertemplate="%{y:.4g} USD in interval %{x:.0f}<extra>" + name + "</extra>",
    )  # fmt: skip


def _background(
    bands: Sequence[tuple[float, str]], colours: dict[str, str], end: float, interval: float
) -> list[dict[str, Any]]:
    ends = [moment for moment, _ in bands[1:]] + [end]
    return [
        {"type": "rect", "xref": "x", "yref": "paper", "y0": 0, "y1": 1, "x0": start / interval,
         "x1": min(stop, end) / interval, "fillcolor": colours.get(name, FAINT), "opacity": 0.18,
         "line": {"width": 0}, "layer": "below"}
        for (start, name), stop in list(zip(bands, ends))[:_MOST_BANDS]
        if start < end
    ]  # fmt: skip


def _costs(table: PaperTable) -> Figure:
    """Every policy's cost of a core-hour, the cheapest at the top."""
    cells = {name: row[0] for name, row in table.rows.items() if isinstance(row[0].ours, float)}
    names = sorted(cells, key=lambda name: float(cells[name].ours or 0.0))
    return bars(
        table.name.replace("policies", "costs"), f"Cost of a core-hour of work, {table.title.rpartition(' ')[2]}",
        "Hosts, functions and the price of violations; mean over seeds with 95 % intervals (oracles: fewer seeds).",
        names, [float(cells[name].ours or 0.0) for name in names], [None] * len(names), "US cents",
        intervals=[cells[name].ci95 for name in names],
    )  # fmt: skip


def _choices(tables: dict[str, PaperTable]) -> list[Figure]:
    """A bar for each selector, made of the shares of the policies that it chose."""
    if "choices" not in tables:
        return []
    table = tables["choices"]
    names, selectors = list(table.columns), list(table.rows)[::-1]
    colours = {name: _CYCLE[index % len(_CYCLE)] for index, name in enumerate(names)}
    data = []
    for index, name in enumerate(names):
        shares = [table.rows[row][index].ours for row in selectors]
        data.append({
            "type": "bar", "orientation": "h", "name": name, "y": selectors, "x": significant(shares),
            "showlegend": False, "marker": {"color": colours[name], "pattern": _pattern(index)},
            "hovertemplate": name + ": %{x:.1f} %<extra>%{y}</extra>",
        })  # fmt: skip
    layout = {"barmode": "stack", "xaxis": axis("% of the intervals"), "yaxis": axis("", type="category")}
    return [Figure(
        "choices", table.title, table.caption, "Policies by how often selectors chose them.", data, layout,
        120 + 34 * len(selectors), legend=[(name, colours[name]) for name in names],
    )]  # fmt: skip


def _pattern(index: int) -> dict[str, str]:
    """Hatching where a colour comes round again."""
    return {"shape": "/" if index >= len(_CYCLE) else ""}


def _sweep(table: PaperTable) -> Figure:
    rates = [float(name.removeprefix("λ = ")) for name in table.columns]
    curves = {}
    for policy, cells in table.rows.items():
        if policy in _FAR:
            continue
        there = [(rate, float(cell.ours)) for rate, cell in zip(rates, cells) if isinstance(cell.ours, float)]
        curves[policy] = ([x for x, _ in there], [y for _, y in there])
    caption = f"{table.caption} Not shown, because they are far above: {', '.join(_FAR)}."
    return lines(
        "sweep", table.title, caption, curves, looks(list(curves), METANET, None), "tasks an interval (λ)",
        "US cents a core-hour", learned=METANET,
    )  # fmt: skip
