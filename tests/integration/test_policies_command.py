"""``trimtab policies``: the list, and what one policy is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import tiny
from tests.commands import trimtab

from trimtab.policies import trained

pytestmark = pytest.mark.usefixtures("tiny_policy")


def show(folder: Path, what: str) -> str:
    result = trimtab("policies", "show", what, folder=folder)
    assert result.code == 0, result.err
    return result.out


def test_showing_a_trained_policy(unbroken: Path) -> None:
    out = show(unbroken.parent, "whole")
    for part in ("whole, a trained policy", "place/tiny, recipe best", "3: inflight, warm, memory", "generations",
                 "trimtab train faasrank-m2 --policy tiny", "drain-ahead", "tiny is "):  # fmt: skip
        assert part in out, part


def test_showing_one_without_an_evaluation(tmp_path: Path) -> None:
    about = trained.Description(decision="place", policy="tiny", recipe="best", features=tiny.FEATURES)
    for name, evaluation in (("a", {}), ("b", {"figure": 3, "regret": {"mean": 0.25}})):
        policy = trained.Trained(about.model_copy(update={"evaluation": evaluation}), {"weights": np.zeros(3)})
        trained.save(tmp_path / name, policy)
    assert "not evaluated" in show(tmp_path, "a")
    assert "mean 0.25" in show(tmp_path, "b")


def test_showing_rules(tmp_path: Path) -> None:
    assert "utilisation" in show(tmp_path, "kpa")
    least = show(tmp_path, "least-connections")
    assert "place/least-connections, a rule: Least connections: the host with the fewest" in least
    assert least.splitlines()[-1].split() == ["none"]
    both = show(tmp_path, "power-of-two")
    assert "place/power-of-two, a rule" in both
    assert "route/power-of-two, a rule" in both
    assert "place/" not in show(tmp_path, "route/power-of-two")
    assert "select/best-static, an oracle that knows the future" in show(tmp_path, "best-static")
    assert "Not trained yet: trimtab train SCENARIO --policy place/tiny makes one." in show(tmp_path, "tiny")


def test_brackets_and_control_characters_are_shown_as_they_are(tmp_path: Path) -> None:
    settings = {"[/bold]": "[/x] \x1b[31m"}
    evaluation = {"scenario": "[/x]", "seeds": [1, 2], "figure": "mean_fct_s", "decision": "place",
                  "policy": {"mean_fct_s": 1.0}, "baselines": {"[/y]": {"mean_fct_s": 2.0, "verdict": "better"}},
                  "verdict": {"better": ["[/y]"]}}  # fmt: skip
    about = trained.Description(
        decision="place", policy="[/z]", recipe="[/r]", features=tiny.FEATURES, settings=settings, evaluation=evaluation
    )
    trained.save(tmp_path / "a[" / "b]", trained.Trained(about, {"weights": np.zeros(3)}))
    out = show(tmp_path, "a[/b]")
    for part in ("a[/b], a trained policy", "place/[/z], recipe [/r]", "[/x]", "[/z] is better than [/y]."):
        assert part in out, part
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["show"], "policies show: must name a policy or the folder of a trained one"),
        (["show", "hashign"], "policy = 'hashign', must be one of: "),
        (["plaice"], "decision = 'plaice', must be one of: assign, place, route, scale, select, show; did you"),
        (["place", "hashing"], "policies place hashing: only show takes a name: policies show place/hashing"),
    ],
)
def test_showing_what_there_is_not(arguments: list[str], line: str, tmp_path: Path) -> None:
    assert trimtab("policies", *arguments, folder=tmp_path).complaint.startswith(line)


def test_the_list_marks_learned_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kinds() -> dict[str, Any]:
        rows = [line.split() for line in trimtab("policies", "place", folder=tmp_path).out.splitlines()]
        return {row[1]: row[2] for row in rows if row[0] == "place"}

    assert kinds()["hashing"] == "rule"
    assert kinds()["tiny"] == "to"  # to train
    about = trained.Description(decision="place", policy="tiny", recipe="best", features=tiny.FEATURES)
    trained.save(tmp_path / "shipped" / "place" / "tiny", trained.Trained(about, {"weights": np.zeros(3)}))
    monkeypatch.setattr(trained, "SHIPPED", tmp_path / "shipped")
    assert kinds()["tiny"] == "learned"
    assert "What it is" in show(tmp_path, "tiny")
