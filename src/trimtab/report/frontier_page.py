"""The frontier as a page: cost against violations, one line a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from trimtab.report.document import document, section, versions
from trimtab.report.figure import Figure, axis, line, log_axis, significant
from trimtab.report.files import write_text
from trimtab.report.frontier import TARGETS, Point, envelope, order
from trimtab.report.markup import figure_grid, table
from trimtab.report.palette import Style, styles

_LEAST = 1e-5
"""Where points without any violation are drawn: a logarithmic axis has no zero."""

_WORDS = (
    "Each policy ran with several values of its own knob. Cost is instance-seconds over offered load: 1 "
    "would be capacity without slack. Between settings, cost is interpolated in the logarithm of violations."
)


def write_frontier(path: Path, result: Mapping[str, Any], command: str = "") -> Path:
    """Write the page with the plot and the table; one file, works offline."""
    return write_text(path, frontier_page(result, command))


def frontier_page(result: Mapping[str, Any], command: str = "") -> str:
    """The page: who is cheapest, the table, the plot."""
    ranked = order(result["policies"])
    words = f'<p class="headline">{escape(frontier_headline(result))}</p>'
    about = f"<pre><code>{escape(command)}</code></pre><p>{escape(versions())}</p><p>{_WORDS}</p>"
    body = (
        section("result", "Cost at equal violations", words + _table(result, ranked))
        + section("charts", "Frontier", figure_grid([frontier_figure(result, ranked)]))
        + section("run", "What was run", about)
    )
    name = str(result.get("scenario", "frontier"))
    return document(f"{name}: what fewer violations cost", "", body)


def frontier_headline(result: Mapping[str, Any], target: str = "0.01") -> str:
    """Who is cheapest at 1 % violations, and how much the next would cost."""
    entries = result["policies"].items()
    costs = {name: entry["cost"][target] for name, entry in entries if target in entry["cost"]}
    if not costs:
        return "No policy kept violations within 1 % at any setting."
    ranked = sorted(costs, key=lambda name: (costs[name], name))
    best = costs[ranked[0]]
    text = f"{ranked[0]} keeps violations at 1 % for the least capacity: {best:.2f} times the offered load."
    if len(ranked) > 1:
        text += f" The next, {ranked[1]}, needs {(costs[ranked[1]] / best - 1) * 100:.1f} % more."
    return text


def frontier_figure(result: Mapping[str, Any], ranked: Sequence[str]) -> Figure:
    """All settings of all policies, those of an envelope joined by a line."""
    looks = styles(ranked, None)
    data = [trace for name in ranked for trace in _traces(name, looks[name], result["policies"][name]["points"])]
    shares = [share for trace in data for share in trace["x"]]
    layout = {
        "xaxis": log_axis("requests that violate the objective (%, logarithmic)", shares),
        "yaxis": axis("instance-seconds over offered load", rangemode="tozero"),
    }
    said = ", ".join(f"{name} {result['policies'][name]['cost'].get('0.01', 'not reached')}" for name in ranked)
    return Figure(
        "frontier", "Cost against violations",
        "Each point is one setting of a policy's knob; further down and to the left is better. Faint points "
        "are beaten by another setting of the same policy. Settings without any violation are drawn at "
        f"{_LEAST * 100:g} %.",
        f"Cost against violations. Cost at 1 % violations: {said}.", data, layout, 480,
    )  # fmt: skip


def _traces(name: str, style: Style, entries: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
    points = [Point(entry["knob"], entry["violations"], entry["cost"]) for entry in entries]
    front = envelope(points)
    hover = "%{x:.3~g} % violations for %{y:.2f}, knob %{text}<extra>" + name + "</extra>"
    return [
        _markers(name, style, front, 7, mode="lines+markers", hovertemplate=hover,
                 text=[f"{point.knob:g}" for point in front]),
        _markers(name, style, [point for point in points if point not in front], 5, mode="markers",
                 hoverinfo="skip", opacity=0.35),
    ]  # fmt: skip


def _markers(name: str, style: Style, points: Sequence[Point], size: int, **more: Any) -> dict[str, Any]:
    violations = significant([100 * max(point.violations, _LEAST) for point in points])
    costs = significant([point.cost for point in points])
    return line(name, style, violations, costs, marker={"size": size, "color": style.colour}, **more)


def _table(result: Mapping[str, Any], ranked: Sequence[str]) -> str:
    heads = ["policy"]
    for target in TARGETS:
        heads += [f"cost at {target * 100:g} %", "knob"]
    rows = [_row(name, result["policies"][name]) for name in ranked]
    words = "Cost and the setting that gives it, at shares of violating requests; – not reached by any setting."
    return table("frontier", words, [*heads, "changes/h at 1 %"], rows)


def _row(name: str, entry: Mapping[str, Any]) -> str:
    cells = ""
    for target in TARGETS:
        cost, knob = entry["cost"].get(f"{target:g}"), entry["knob"].get(f"{target:g}")
        cells += "<td>–</td><td>–</td>" if cost is None else f"<td>{cost:.2f}</td><td>{knob:.3g}</td>"
    changes = entry["changes_per_hour"].get("0.01")
    cells += "<td>–</td>" if changes is None else f"<td>{changes:.0f}</td>"
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
