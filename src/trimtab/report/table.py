"""The table of a comparison in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from trimtab.report.field import Field, best_value, candidates, columns, percent, primary, ranking, value_of

_NAME_WIDTH = 29
_ROW_COLUMNS = 6
_ROW_WIDTH = 9


def comparison_table(summary: Mapping[str, Any], width: int = 100) -> Table:
    """All policies, best first: the best of each column in bold, the baseline marked with ``*``.

    Columns that do not fit into ``width`` are left out from the right; ``summary.json`` has them all.
    """
    policies: Mapping[str, Mapping[str, Any]] = summary["policies"]
    decision, baseline = summary["decision"], summary["baseline"]
    main = primary(decision, policies)
    order = ranking(decision, policies)
    shown = _fitting(columns(decision, policies), main, policies, width)
    table = Table(
        box=box.SIMPLE_HEAD,
        caption=caption(summary),
        caption_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("policy", no_wrap=True, overflow="ellipsis")
    for field in shown:
        table.add_column(_heading(field), justify="right", no_wrap=True)
        if field.name == main.name and baseline in policies:
            table.add_column(f"vs {_short(baseline)}\n95 % interval", justify="left", no_wrap=True)
    for policy in order:
        table.add_row(*_cells(policy, summary, shown, main))
    return table


def caption(summary: Mapping[str, Any]) -> str:
    """What the marks of a table mean."""
    seeds = len(summary["seeds"])
    text = f"{summary['scenario']}, {seeds} seed{'s' if seeds > 1 else ''}"
    if summary["baseline"] in summary["policies"]:
        text += "; * baseline"
        text += ", changes with paired 95 % intervals" if seeds > 1 else "; more seeds give an interval"
    if any(figures.get("oracle") for figures in summary["policies"].values()):
        text += "; † knows the future"
    return text


class Lines:
    """A plain table that grows while policies run: columns are fixed by what the first one has.

    As many columns as fit into ``width``, from the left, and one at least.
    """

    def __init__(self, decision: str, first: Mapping[str, Any], width: int = 100, name: int = 0) -> None:
        self._name = max(min(name + 1, _NAME_WIDTH), len("policy") + 1) if name else _NAME_WIDTH
        fields = candidates(decision, {"": first})[:_ROW_COLUMNS]
        room = width - self._name
        fitting = sum(sum(map(_width, fields[: count + 1])) <= room for count in range(len(fields)))
        self._fields = fields[: max(1, fitting)]

    def heading(self) -> str:
        """The line above the rows."""
        heads = "".join(f"{field.heading:>{_width(field)}}" for field in self._fields)
        return f"{'policy':<{self._name}}{heads}"

    def row(self, policy: str, figures: Mapping[str, Any]) -> str:
        """One policy, to print as soon as it has run."""
        name = policy if len(policy) < self._name else policy[: self._name - 2] + "…"
        values = ((field, value_of(field, figures)) for field in self._fields)
        cells = (f"{'–' if value is None else field.shown(value):>{_width(field)}}" for field, value in values)
        return f"{name:<{self._name}}{''.join(cells)}"


def change_text(figures: Mapping[str, Any], name: str) -> str:
    """``−12.3 % [−14.0, −10.6]``; without an interval the change alone; empty where there is none."""
    entry = figures.get("vs_baseline", {}).get(name)
    if entry is None:
        return ""
    text = percent(entry["change"])
    if "ci95" not in entry:
        return text
    low, high = (percent(bound).removesuffix(" %") for bound in entry["ci95"])
    return f"{text} [{low}, {high}]"


def _width(field: Field) -> int:
    return max(_ROW_WIDTH, len(field.heading) + 1)


def _heading(field: Field) -> str:
    return f"{field.label}\n{field.unit}"


def _short(name: str) -> str:
    return name if len(name) <= 18 else name[:17] + "…"


def _cells(policy: str, summary: Mapping[str, Any], shown: list[Field], main: Field) -> list[Text]:
    policies = summary["policies"]
    figures = policies[policy]
    mark = " *" if policy == summary["baseline"] else " †" if figures.get("oracle") else ""
    cells = [Text(policy + mark)]
    for field in shown:
        value = value_of(field, figures)
        best = value is not None and value == best_value(field, policies)
        cells.append(Text("–" if value is None else field.shown(value), style="bold" if best else ""))
        if field.name == main.name and summary["baseline"] in policies:
            cells.append(Text("" if policy == summary["baseline"] else change_text(figures, field.name)))
    return cells


def _fitting(fields: list[Field], main: Field, policies: Mapping[str, Mapping[str, Any]], width: int) -> list[Field]:
    """As many columns as fit, from the left; the primary figure always."""
    if main not in fields:
        fields = [main, *fields]
    widest_change = max((len(change_text(figures, main.name)) for figures in policies.values()), default=0)
    room = width - max(len(name) for name in policies) - 4
    room -= max(widest_change, len("95 % interval")) + 3 if widest_change else 0
    kept: list[Field] = []
    for field in fields:
        values = [value_of(field, figures) for figures in policies.values()]
        needed = max(len(field.shown(value)) for value in values if value is not None) if values else 0
        room -= max(needed, len(field.label), len(field.unit)) + 2
        if room >= 0 or field == main:
            kept.append(field)
    return kept
