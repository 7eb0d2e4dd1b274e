"""A table of a paper with our figures beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trimtab.report.summary import rounded

_DIGITS = 6


@dataclass(frozen=True)
class Cell:
    """Our figure and the paper's; either may be missing."""

    ours: float | str | None
    paper: float | str | None = None
    ci95: tuple[float, float] | None = None

    def as_json(self) -> dict[str, Any]:
        """The entry in the result file; what there is none of is null."""
        found: dict[str, Any] = {"ours": self.ours, "paper": self.paper}
        return found | ({"ci95": list(self.ci95)} if self.ci95 is not None else {})


@dataclass(frozen=True)
class PaperTable:
    """Rows and columns as the paper has them."""

    name: str
    """``table-5``, ``figure-6``: what it is in the paper."""
    title: str
    caption: str
    corner: str
    """What the rows are."""
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Cell, ...]]
    digits: int | tuple[int, ...] = 2
    """Decimals: of all columns, or of each."""
    best: Literal["low", "high", "none"] = "none"
    """Which of a row's values is set in bold, ours and the paper's each on their own."""

    def as_json(self) -> dict[str, Any]:
        """The entry of ``tables`` in the result file."""
        rows = {name: {column: cell.as_json() for column, cell in zip(self.columns, cells)}
                for name, cells in self.rows.items()}  # fmt: skip
        return rounded({"title": self.title, "caption": self.caption, "rows": rows}, _DIGITS)  # type: ignore[no-any-return]

    def text(self, value: float | str | None, column: int) -> str:
        """A value as it is printed in a column."""
        if value is None:
            return "–"
        digits = self.digits if isinstance(self.digits, int) else self.digits[column]
        return value if isinstance(value, str) else f"{value:,.{digits}f}"

    def best_of(self, cells: Sequence[Cell]) -> tuple[float | None, float | None]:
        """The best value of a row: ours, the paper's; None where there is nothing to choose."""
        if self.best == "none":
            return None, None
        choose = min if self.best == "low" else max
        found = []
        for values in ([cell.ours for cell in cells], [cell.paper for cell in cells]):
            numbers = [value for value in values if isinstance(value, int | float)]
            found.append(choose(numbers) if len(numbers) > 1 else None)
        return found[0], found[1]
