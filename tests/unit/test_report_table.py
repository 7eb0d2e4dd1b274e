"""The terminal table, and the words around it."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from tests import outcomes

from trimtab.report.field import columns, number, percent, ranking
from trimtab.report.headline import headline
from trimtab.report.summary import figures_of, summarise
from trimtab.report.table import Lines, comparison_table


def shown(summary: dict[str, Any], width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(comparison_table(summary, width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 140])
def test_table_fits_and_nothing_is_cut(width: int) -> None:
    text = shown(summarise("faasrank-canada", "place", "hashing", outcomes.comparison()), width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert "…" not in text
    assert "hashing *" in text
    assert "mean FCT" in text
    assert "−10.3 % [−13.0, −7.6]" in text
    assert ("energy" in text) == (width >= 100)


def test_best_of_a_column_is_bold() -> None:
    runs = [outcomes.outcome([2.0]), outcomes.outcome([1.0], "greedy")]
    table = comparison_table(summarise("s", "place", "hashing", runs))
    cells = list(table.columns[1].cells)
    assert [(str(cell), cell.style) for cell in cells] == [("1.00", "bold"), ("2.00", "")]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("maker", "decision", "expected"),
    [
        (outcomes.scale, "scale", ["sla_violation_rate", "instance_seconds", "cost_usd", "p95_fct_s"]),
        (outcomes.route, "route", ["success_rate", "late", "rejected", "failed"]),
        (outcomes.assign, "assign", ["cost_usd", "energy_kwh", "sla_violation_rate", "mean_fct_s"]),
        (outcomes.place, "place", ["mean_fct_s", "p95_fct_s", "p99_fct_s", "cold_start_rate"]),
    ],
)
def test_columns_suit_the_decision(maker: Any, decision: str, expected: list[str]) -> None:
    policies = summarise("s", decision, None, [maker(seed=1)])["policies"]
    assert [field.name for field in columns(decision, policies)][:4] == expected


def test_rows_stand_below_their_headings() -> None:
    lines = Lines("place", figures_of(outcomes.place()))
    head, line = lines.heading(), lines.row("hashing", figures_of(outcomes.place()))
    assert len(head) == len(line) <= 100
    assert head.startswith("policy")
    assert "mean FCT (s)" in head
    # a policy with fewer figures, or with none worth a column of its own, keeps to the columns
    assert len(lines.row("a-name-that-is-much-too-long-for-this", {"requests": 3})) == len(head)


def test_a_policy_does_not_win_by_leaving_work_undone() -> None:
    policies = {
        "lazy": {"requests": 100, "completed": 50, "mean_fct_s": 1.0},
        "diligent": {"requests": 100, "completed": 100, "mean_fct_s": 2.0},
    }
    assert ranking("place", policies) == ["diligent", "lazy"]


def test_cheapest_autoscaler_within_one_per_cent_is_best() -> None:
    policies = {
        "stingy": {"sla_violation_rate": 0.05, "instance_seconds": 10.0},
        "lavish": {"sla_violation_rate": 0.0, "instance_seconds": 90.0},
        "right": {"sla_violation_rate": 0.009, "instance_seconds": 30.0},
    }
    assert ranking("scale", policies) == ["right", "lavish", "stingy"]


def test_headline_says_who_how_much_and_how_sure() -> None:
    runs = [
        outcomes.outcome([mean], policy, seed)
        for seed, policy, mean in (
            (1, "hashing", 10),
            (2, "hashing", 20),
            (1, "greedy", 9),
            (2, "greedy", 19),
        )
    ]
    assert headline(summarise("s", "place", "hashing", runs)) == (
        "greedy is the best of 2 policies: it takes 14.0 s on average to complete a request. Against hashing "
        "(15.0 s) that is −6.7 % (95 % interval −6.7 to −6.7 %): more than chance explains."
    )
    assert "One seed says nothing about chance" in headline(summarise("s", "place", "hashing", runs[::2]))


def test_headline_when_the_baseline_is_best() -> None:
    runs = [outcomes.outcome([1.0]), outcomes.outcome([2.0], "greedy")]
    text = headline(summarise("s", "place", "hashing", runs))
    assert "no other policy improves on it. The next, greedy, is at +100.0 %" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.00123, "0.0012"), (0.0523, "0.052"), (4.126, "4.13"), (12.34, "12.3"),
     (123.4, "123.4"), (100, "100"),
     (100800, "100,800")],
)  # fmt: skip
def test_numbers_for_people(value: float, text: str) -> None:
    assert number(value) == text


def test_signed_percentages() -> None:
    assert [percent(0.123), percent(-0.123), percent(1e-6)] == ["+12.3 %", "−12.3 %", "±0.0 %"]
