"""A reproduction in a terminal: tables with ours and the paper's, then a verdict on every claim."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trimtab.papers.claim import Finding, Verdict
from trimtab.papers.papertable import Cell, PaperTable
from trimtab.papers.reproduction import Reproduction
from trimtab.report.field import number

_STYLES = {Verdict.REPRODUCED: "green", Verdict.NOT_REPRODUCED: "red", Verdict.UNTESTABLE: "dim"}


def print_result(console: Console, result: Reproduction) -> None:
    """Everything, the verdicts last: they stay on the screen."""
    for table in result.tables:
        console.print(rich_table(table))
    console.print(verdicts(result))
    console.print(result.headline, highlight=False, style="bold")
    for line in result.learned:
        console.print(line, highlight=False, style="dim")


def rich_table(table: PaperTable) -> Table:
    """A table of the paper; a cell is ``ours | paper`` where the paper has a value."""
    both = any(cell.paper is not None for cells in table.rows.values() for cell in cells)
    shown = Table(
        box=box.SIMPLE_HEAD, title=table.title, title_justify="left", title_style="bold", pad_edge=False,
        caption=f"{'ours | paper. ' if both else ''}{table.caption}", caption_justify="left",
    )  # fmt: skip
    shown.add_column(table.corner)
    for column in table.columns:
        shown.add_column(column, justify="right")
    for name, cells in table.rows.items():
        best, printed = table.best_of(cells)
        shown.add_row(name, *(_cell(table, index, cell, both, best, printed) for index, cell in enumerate(cells)))
    return shown


def verdicts(result: Reproduction) -> Table:
    """Every claim with what the paper says, what we measured, the verdict and why."""
    shown = Table(box=box.SIMPLE_HEAD, title="Claims", title_justify="left", title_style="bold", pad_edge=False)
    for column in ("verdict", "claim", "paper", "ours [95 % interval]", "why"):
        shown.add_column(column, no_wrap=column == "verdict")
    for finding in result.findings:
        shown.add_row(
            Text(str(finding.verdict), style=_STYLES[finding.verdict]), Text(f"{finding.claim} ({finding.where})"),
            Text(paper_text(finding)), Text(measured_text(finding)), Text(finding.why),
        )  # fmt: skip
    return shown


def paper_text(finding: Finding) -> str:
    """The paper's figure, or its words."""
    if finding.paper is None:
        return "–"
    return finding.paper if isinstance(finding.paper, str) else f"{finding.paper:,g}"


def measured_text(finding: Finding) -> str:
    """``12.1 [10.8, 13.5] %``."""
    if finding.measured is None:
        return "–"
    values = [finding.measured, *(finding.ci95 or ())]
    whole = all(value == round(value) for value in values)
    shown = [f"{value:,.0f}" if whole else number(value) for value in values]
    interval = f" [{shown[1]}, {shown[2]}]" if finding.ci95 is not None else ""
    return f"{shown[0]}{interval} {finding.unit}".strip()


def _cell(table: PaperTable, column: int, cell: Cell, both: bool, best: float | None, printed: float | None) -> Text:
    text = Text(table.text(cell.ours, column), style="bold" if best is not None and cell.ours == best else "")
    if both:
        text.append(" | ", style="dim")
        bold = printed is not None and cell.paper == printed
        text.append(table.text(cell.paper, column), style="bold" if bold else "dim")
    return text
