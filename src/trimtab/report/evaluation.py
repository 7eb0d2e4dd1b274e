"""How a trained policy did, from ``evaluation`` of its ``policy.json``: a table, and the verdict in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from trimtab.report.field import FIELDS, Field, columns, percent, value_of

_STYLES = {"better": "green", "tied": "", "worse": "red"}


def evaluation_table(policy: str, evaluation: Mapping[str, Any], width: int = 80) -> Table:
    """The policy, then every baseline with the policy's change against it and the verdict."""
    seeds = len(evaluation["seeds"])
    main = FIELDS[evaluation["figure"]]
    everyone = {"": evaluation["policy"], **evaluation["baselines"]}
    others = [field for field in columns(evaluation["decision"], everyone) if field.name != main.name]
    shown = [main, *others][: 2 if width < 100 else 4]
    table = Table(
        box=box.SIMPLE_HEAD,
        caption=f"{evaluation['scenario']}, {seeds} seed{'s' if seeds > 1 else ''} that training never saw; "
        f"changes of {main.label}, paired by seed",
        caption_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("policy", no_wrap=True, overflow="ellipsis")
    for field in shown:
        table.add_column(f"{field.label}\n{field.unit}", justify="right", no_wrap=True)
    table.add_column(f"{policy} against it\n95 % interval", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_row(Text(policy, style="bold"), *_cells(shown, evaluation["policy"]), "", "")
    for name, entry in evaluation["baselines"].items():
        word = entry["verdict"]
        table.add_row(
            Text(name), *_cells(shown, entry), change(entry, main.name), Text(word, style=_STYLES.get(word, ""))
        )
    return table


def change(entry: Mapping[str, Any], main: str) -> str:
    """``−12.3 % [−14.0, −10.6]``, with the figure where another one decided."""
    if "change" not in entry:
        return ""
    text = percent(entry["change"])
    if "ci95" in entry:
        low, high = (percent(bound).removesuffix(" %") for bound in entry["ci95"])
        text += f" [{low}, {high}]"
    judged = entry.get("judged_by", main)
    return text if judged == main else f"{text} {FIELDS[judged].label}"


def verdict(policy: str, evaluation: Mapping[str, Any]) -> str:
    """One sentence: better than which, tied with which, worse than which."""
    groups = evaluation["verdict"]
    parts = [
        f"{words} {_listed(groups[word], len(evaluation['baselines']))}"
        for word, words in (("better", "better than"), ("tied", "tied with"), ("worse", "worse than"))
        if groups.get(word)
    ]
    text = f"{policy} is {', '.join(parts)}." if parts else f"{policy} was compared with nothing."
    if len(evaluation["seeds"]) == 1:
        text += " One seed says nothing about chance: evaluate on more for a verdict."
    return text


def _listed(names: list[str], total: int) -> str:
    if len(names) == total and total > 1:
        return f"all {total} rules"
    return names[0] if len(names) == 1 else f"{len(names)} of {total} rules ({', '.join(names)})"


def _cells(fields: list[Field], figures: Mapping[str, Any]) -> list[str]:
    values = [value_of(field, figures) for field in fields]
    return ["–" if value is None else field.shown(value) for field, value in zip(fields, values, strict=True)]
