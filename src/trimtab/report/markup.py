"""Pieces of HTML: tables and figures, every word of them escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from trimtab.report.field import best_value, columns, primary, value_of
from trimtab.report.figure import Figure, Runs
from trimtab.report.table import caption, change_text


def results_table(runs: Runs) -> str:
    """All policies, best first, with the change of the primary figure."""
    summary, policies = runs.summary, runs.summary["policies"]
    main = primary(summary["decision"], policies)
    fields = columns(summary["decision"], policies)
    fields = [main, *(field for field in fields if field != main)]
    heads = ["policy", *(field.heading for field in fields)]
    if runs.baseline is not None:
        heads.insert(2, f"change against {runs.baseline} [95 % interval]")
    rows = []
    for policy in runs.order:
        figures = policies[policy]
        cells = []
        for field in fields:
            value = value_of(field, figures)
            best = value is not None and value == best_value(field, policies)
            text = "–" if value is None else field.shown(value)
            cells.append(_cell(text, value, "best" if best else ""))
        if runs.baseline is not None:
            cells.insert(1, _change_cell(figures, main.name, policy == runs.baseline))
        rows.append(f'<tr><th scope="row">{_swatch(runs, policy)}{_marked(runs, policy)}</th>{"".join(cells)}</tr>')
    return table("results", caption(summary) + ". Bold: the best of a column.", heads, rows)


def fairness_table(runs: Runs, most: int = 30) -> str:
    """Mean completion time by function as a percentage of the baseline's (FaaSRank's Table IV)."""
    functions: Mapping[str, Any] = runs.summary.get("functions", {})
    if runs.baseline is None or len(functions) < 2 or len(runs.order) < 2:
        return ""
    chosen = sorted(functions, key=lambda name: -functions[name]["requests"])[:most]
    rows = []
    for name in (name for name in functions if name in chosen):
        entries = functions[name]["policies"]
        shares = [entries.get(policy, {}).get("normalised") for policy in runs.order]
        lowest = min((share for share in shares if share is not None), default=None)
        cells = "".join(_share_cell(share, lowest) for share in shares)
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    words = f"Mean completion time in % of {runs.baseline}'s; blue is faster, orange slower, bold fastest."
    if len(functions) > most:
        words += f" The {most} most called of {len(functions)} functions."
    return table("fairness", words, ["function", *runs.order], rows)


def figure_block(figure: Figure) -> str:
    """A figure with its caption, its data, and its words for those who do not see it."""
    name = escape(figure.name.replace(" ", "-"), quote=True)
    content = {
        "data": figure.data, "layout": figure.layout, "height": figure.height,
        "legend": list(figure.legend), "choices": list(figure.choices),
    }  # fmt: skip
    return (
        f'<figure id="figure-{name}" class="{"half" if figure.half else "full"}">'
        f"<h3>{escape(figure.title)}</h3>"
        f'<div class="controls"></div>'
        f'<div class="chart" role="img" aria-label="{escape(figure.alternative, quote=True)}" '
        f'style="min-height:{figure.height}px"></div>'
        f'<div class="legend"></div><figcaption>{escape(figure.caption)}</figcaption>'
        f'<script type="application/json">{script_json(content)}</script></figure>'
    )


def figure_grid(figures: Sequence[Figure]) -> str:
    """Figures one below the other, narrow ones in pairs."""
    return f'<div class="grid">{"".join(map(figure_block, figures))}</div>'


def script_json(content: Any) -> str:
    """JSON that may stand inside a script element: no ``</`` and no comment can end it early."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def definitions(entries: Sequence[tuple[str, str]]) -> str:
    """A list of terms and what they are; entries without content are left out."""
    items = (f"<div><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>" for term, text in entries if text)
    return f"<dl>{''.join(items)}</dl>"


def table(name: str, words: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    """A table that scrolls sideways by itself; ``rows`` are HTML, all else is text."""
    cells = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name} table"><table id="{name}">'
        f"<caption>{escape(words)}</caption><thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(text: str, value: float | None, kind: str = "") -> str:
    order = "" if value is None else f' data-value="{value:.10g}"'
    return f'<td{order} class="{kind}">{escape(text)}</td>' if kind else f"<td{order}>{escape(text)}</td>"


def _change_cell(figures: Mapping[str, Any], name: str, baseline: bool) -> str:
    entry = figures.get("vs_baseline", {}).get(name)
    if baseline or entry is None:
        return _cell("baseline" if baseline else "–", 0.0 if baseline else None)
    bounds = entry.get("ci95")
    kind = "chance" if bounds is None or bounds[0] <= 0 <= bounds[1] else ""
    return _cell(change_text(figures, name), entry["change"], kind)


def _share_cell(share: float | None, lowest: float | None) -> str:
    if share is None:
        return "<td>–</td>"
    # Half a step either way already has the full colour: differences are rarely larger.
    strength = min(abs(share - 1) / 0.5, 1.0) * 0.6
    colour = "0 114 178" if share < 1 else "230 159 0"
    kind = ' class="best"' if share == lowest else ""
    style = f' style="background:rgb({colour} / {strength:.2f})"'
    return f'<td{kind}{style} data-value="{share:.6g}">{share * 100:.1f}</td>'


def _swatch(runs: Runs, policy: str) -> str:
    style = runs.style[policy]
    colour = style.bar.replace("@", "--")
    colour = f"var({colour})" if colour.startswith("--") else colour
    return f'<span class="swatch" style="background:{colour}"></span>'


def _marked(runs: Runs, policy: str) -> str:
    mark = " *" if policy == runs.baseline else " †" if runs.summary["policies"][policy].get("oracle") else ""
    return escape(policy + mark)
