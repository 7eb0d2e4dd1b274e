"""``reproduction.html``: one page that needs nothing but itself."""

from __future__ import annotations

from html import escape
from pathlib import Path

from trimtab.papers.claim import Finding, Verdict
from trimtab.papers.console import measured_text, paper_text
from trimtab.papers.papertable import Cell, PaperTable
from trimtab.papers.reproduction import Reproduction
from trimtab.report.document import document, section, versions
from trimtab.report.figures import paired
from trimtab.report.files import write_text
from trimtab.report.markup import definitions, figure_grid, table

_ORDER = {verdict: index for index, verdict in enumerate(Verdict)}


def write_page(path: Path, result: Reproduction, command: str) -> Path:
    """Write a reproduction as one HTML file that works offline."""
    return write_text(path, page(result, command))


def page(result: Reproduction, command: str) -> str:
    """Verdicts first, then the paper's figures and tables with ours, what was run, and how verdicts are reached."""
    body = [
        section("result", "Claims", f'<p class="headline">{escape(result.headline)}</p>' + claims_table(result)),
        section("charts", "Figures", figure_grid(paired(list(result.figures))) if result.figures else ""),
        section("tables", "Tables", "".join(map(paper_table, result.tables))),
        section("run", "What was run", _about(result, command)),
        section("reading", "How verdicts are reached", _READING),
    ]
    return document(result.title, f"{result.citation}. Reproduced in simulation.", "".join(body))


def claims_table(result: Reproduction) -> str:
    """Every claim: verdict, paper, ours, why."""
    rows = [_claim(finding) for finding in result.findings]
    words = "A claim is decided by the rule below it."
    heads = ["claim", "verdict", "paper", "ours [95 % interval]", "why"]
    return f'<div class="claims">{table("claims", words, heads, rows)}</div>'


def paper_table(shown: PaperTable) -> str:
    """A table of the paper: our value, below it the paper's or our interval."""
    printed = any(cell.paper is not None for cells in shown.rows.values() for cell in cells)
    rows = []
    for name, cells in shown.rows.items():
        best = shown.best_of(cells)
        columns = "".join(_cell(shown, index, cell, *best) for index, cell in enumerate(cells))
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{columns}</tr>')
    words = shown.caption + (" Below our values: those of the paper." if printed else "")
    body = table(shown.name, words, [shown.corner, *shown.columns], rows)
    return f'<h3 class="table-title">{escape(shown.title)}</h3>{body}'


def _claim(finding: Finding) -> str:
    kind = str(finding.verdict).replace(" ", "-")
    value = "" if finding.measured is None else f' data-value="{finding.measured:.8g}"'
    return (
        f'<tr id="claim-{escape(finding.id, quote=True)}"><th scope="row">{escape(finding.claim)}'
        f"<small>{escape(finding.where)}. Rule: {escape(finding.criterion)}.</small></th>"
        f'<td data-value="{_ORDER[finding.verdict]}"><span class="verdict {kind}">{escape(str(finding.verdict))}'
        f"</span></td><td>{escape(paper_text(finding))}</td><td{value}>{escape(measured_text(finding))}</td>"
        f'<td class="why">{escape(finding.why)}</td></tr>'
    )


def _cell(shown: PaperTable, column: int, cell: Cell, best: float | None, papers: float | None) -> str:
    kind = ' class="best"' if best is not None and cell.ours == best else ""
    value = f' data-value="{cell.ours:.8g}"' if isinstance(cell.ours, int | float) else ""
    below = ""
    if cell.ci95 is not None:
        low, high = (escape(shown.text(bound, column)) for bound in cell.ci95)
        below += f"<small>[{low}, {high}]</small>"
    if cell.paper is not None:
        text = escape(shown.text(cell.paper, column))
        below += f"<small>paper {f'<b>{text}</b>' if papers is not None and cell.paper == papers else text}</small>"
    return f"<td{kind}{value}>{escape(shown.text(cell.ours, column))}{below}</td>"


def _about(result: Reproduction, command: str) -> str:
    facts = definitions([
        ("Seeds", ", ".join(map(str, result.seeds))),
        ("Learned policies", "; ".join(result.learned)),
        ("Versions", versions()),
    ])  # fmt: skip
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in result.remarks)
    return (
        "<p>This command gives the same figures again, times of the machine aside.</p>"
        f"<pre><code>{escape(command)}</code></pre>{facts}"
        f"<h3>Assumptions, and what the paper leaves open</h3><ul>{remarks}</ul>"
    )


_READING = definitions([
    ("Rule", "Every claim has a rule that is written beside it in the code."),
    ("Reproduced", "The measurement meets the rule. For a percentage of the paper: our 95 % interval contains it, or "
     "our effect has the same sign beyond chance and is at least as large."),
    ("Not reproduced", "It does not. A smaller effect in the same direction is not reproduced; the reason says so."),
    ("Not testable here", "The claim needs what is not here: real machines, or a policy that is not trained."),
    ("Interval", "95 %, over seeds. All policies met the same requests in a seed, so differences are paired by seed "
     "(Student); intervals of counts come from resampling the seeds. Many intervals at once: some miss by chance."),
])  # fmt: skip
