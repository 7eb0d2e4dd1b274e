"""The verdict on a trained policy, worked out by hand, and how it is told."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from tests.worlds import scenario

from trimtab.errors import TrimtabError
from trimtab.learn.evaluation import check_seeds, compared, judge, rules
from trimtab.policies import registry
from trimtab.report.evaluation import evaluation_table, verdict
from trimtab.report.field import FIELDS


def runs(*values: float, name: str = "mean_fct_s", **others: float) -> dict[int, dict[str, float]]:
    """One run a value; all 100 requests completed unless told."""
    fixed = {"requests": 100, "completed": 100, **others}
    return {seed: {name: value, **fixed} for seed, value in enumerate(values, 1)}


MINE = runs(1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("other", "word"),
    [
        # differences −1, −1.1, −0.9: mean −1, s = 0.1, t(2) = 4.30, half = 4.30 · 0.1 / √3 = 0.25: below zero
        (runs(2.0, 3.1, 3.9), "better"),
        (runs(0.1, 0.9, 2.0), "worse"),
        # differences −1, 1, 0: the interval holds zero
        (runs(2.0, 1.0, 3.0), "tied"),
        (runs(1.0, 2.0, 3.0), "tied"),
    ],
)
def test_by_the_interval_of_paired_differences(other: dict[int, dict[str, float]], word: str) -> None:
    assert judge("place", FIELDS["mean_fct_s"], MINE, other)[::2] == ("mean_fct_s", word)


def test_higher_is_better_for_success() -> None:
    field = FIELDS["success_rate"]
    mine = runs(0.9, 0.91, 0.92, name="success_rate")
    assert judge("route", field, mine, runs(0.8, 0.81, 0.82, name="success_rate"))[2] == "better"
    assert judge("route", field, mine, runs(0.99, 0.99, 0.99, name="success_rate"))[2] == "worse"


def test_a_baseline_of_zero_has_no_ratio_but_a_verdict() -> None:
    field = FIELDS["success_rate"]
    name, change, word = judge("route", field, runs(0.5, 0.6, name="success_rate"), runs(0, 0, name="success_rate"))
    assert (name, change, word) == ("success_rate", None, "tied")
    word = judge("route", field, runs(0.5, 0.51, name="success_rate"), runs(0, 0, name="success_rate"))[2]
    assert word == "better"


def test_work_left_undone_does_not_win() -> None:
    quick = runs(0.1, 0.1, 0.1, completed=50)
    assert judge("place", FIELDS["mean_fct_s"], quick, MINE)[::2] == ("completed", "worse")
    assert judge("place", FIELDS["mean_fct_s"], MINE, quick)[::2] == ("completed", "better")


def test_an_autoscaler_must_keep_the_objective_first() -> None:
    def scaled(seconds: float, violations: float) -> dict[int, dict[str, float]]:
        values = (seconds, seconds + 1, seconds + 2)
        return runs(*values, name="instance_seconds", sla_violation_rate=violations)

    field = FIELDS["instance_seconds"]
    assert judge("scale", field, scaled(50, 0.005), scaled(100, 0.009))[::2] == ("instance_seconds", "better")
    assert judge("scale", field, scaled(50, 0.02), scaled(100, 0.009))[::2] == ("sla_violation_rate", "worse")
    assert judge("scale", field, scaled(100, 0.002), scaled(50, 0.2))[::2] == ("sla_violation_rate", "better")
    assert judge("scale", field, scaled(100, 0.1), scaled(50, 0.2))[::2] == ("sla_violation_rate", "better")


def test_one_seed_decides_nothing() -> None:
    assert judge("place", FIELDS["mean_fct_s"], runs(1.0), runs(9.0))[2] == "tied"


def evaluation() -> dict[str, object]:
    others = {"hashing": runs(2.0, 3.1, 3.9), "random": runs(2.0, 1.0, 3.0)}
    return {"scenario": "small", "hash": "", "seeds": [1, 2, 3], **compared("place", MINE, others)}


def test_what_policy_json_holds() -> None:
    found = compared("place", MINE, {"hashing": runs(2.0, 3.1, 3.9), "random": runs(2.0, 1.0, 3.0)})
    assert found["figure"] == "mean_fct_s"
    assert found["policy"]["mean_fct_s"] == 2.0
    entry = found["baselines"]["hashing"]
    assert entry["mean_fct_s"] == 3.0
    assert entry["change"] == pytest.approx(-1 / 3)
    assert entry["ci95"][0] < entry["change"] < entry["ci95"][1] < 0
    assert found["verdict"] == {"better": ["hashing"], "tied": ["random"], "worse": []}


def test_how_it_is_told() -> None:
    found = evaluation()
    assert verdict("rank", found) == "rank is better than hashing, tied with random."
    out = io.StringIO()
    Console(file=out, width=80).print(evaluation_table("rank", found))
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["hashing", "3.00", "−33.3", "%", "[−41.6,", "−25.1]", "better"] in lines
    assert ["random", "2.00", "±0.0", "%", "[−124.2,", "+124.2]", "tied"] in lines
    assert max(len(line.rstrip()) for line in out.getvalue().splitlines()) <= 80


def test_many_are_counted() -> None:
    found = evaluation() | {
        "baselines": dict.fromkeys("abcd"),
        "verdict": {"better": ["a", "b"], "tied": [], "worse": ["c", "d"]},
    }
    assert verdict("rank", found) == "rank is better than 2 of 4 rules (a, b), worse than 2 of 4 rules (c, d)."
    found["verdict"] = {"better": ["a", "b", "c", "d"], "tied": [], "worse": []}
    assert verdict("rank", found | {"seeds": [1]}).startswith("rank is better than all 4 rules. One seed says nothing")


def test_seeds_of_training_are_refused() -> None:
    check_seeds([1, 999_999])
    with pytest.raises(TrimtabError, match=r"^--evaluation-seeds: 1000000, must be below 1,000,000"):
        check_seeds([1, 1_000_000])


def test_baselines_are_all_rules_of_the_decision() -> None:
    assert rules(scenario(), "place") == list(registry.BUILT_IN["place"])
    selector = rules(scenario(), "select")
    assert selector[: len(registry.BUILT_IN["place"])] == list(registry.BUILT_IN["place"])
