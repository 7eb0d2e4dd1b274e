"""Finding a recipe, and what is said where there is none."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests import tiny
from tests.worlds import scenario

from trimtab.errors import TrimtabError
from trimtab.learn import recipe
from trimtab.learn.extra import training_extra
from trimtab.learn.job import job_for, split
from trimtab.learn.recipe import find, finite, infinite, named


@pytest.fixture(autouse=True)
def recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        ("place", "rank", "best"): "tests.tiny:recipe",
        ("place", "rank", "paper"): "tests.tiny:loss",
        ("place", "faasrank", "paper"): "tests.tiny:recipe",
        ("scale", "dqn", "best"): "tests.no_such_module:recipe",
        ("select", "aset", "paper"): "tests.tiny:recipe",
    }
    monkeypatch.setattr(recipe, "RECIPES", known)
    monkeypatch.setattr("trimtab.learn.job.RECIPES", known)


def test_the_first_recipe_is_meant_where_none_is_named() -> None:
    assert named("place", "rank", None) == "best"
    assert find("place", "rank", None) is tiny.recipe
    assert find("place", "rank", "paper") is tiny.loss


@pytest.mark.parametrize(
    ("decision", "policy", "name", "line"),
    [
        ("place", "rnak", None, "place policy that can be trained = 'rnak', must be one of: faasrank, rank; did you"),
        ("place", "hashing", None, "place policy that can be trained = 'hashing', must be one of: faasrank, rank"),
        ("place", "rank", "papre", "--recipe = 'papre', 'rank' has: best, paper; did you mean 'paper'?"),
        ("place", "dqn", None, "policy = 'dqn' is a scale policy, the decision here is place"),
        ("assign", "gobi", None, "policy = 'gobi' cannot be trained: there is no recipe for assign policies"),
    ],
)
def test_mistakes(decision: str, policy: str, name: str | None, line: str) -> None:
    with pytest.raises(TrimtabError) as caught:
        find(decision, policy, name)
    assert str(caught.value).startswith(line)


def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with (
        pytest.raises(TrimtabError, match=r"^stable_baselines3 is not installed.*pip install 'trimtab\[train\]'$"),
        training_extra(),
    ):
        import stable_baselines3  # noqa: F401


def test_a_module_of_ours_that_is_missing_is_not_called_an_extra() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        find("scale", "dqn", None)


def test_the_decision_is_the_scenarios_unless_named() -> None:
    world = scenario()
    assert split(world, "rank") == ("place", "rank")
    assert split(world, "place/rank") == ("place", "rank")
    assert split(world, "aset") == ("select", "aset")
    with pytest.raises(TrimtabError, match=r"^policy = 'route/rank', this scenario has the decisions: place$"):
        split(world, "route/rank")


def test_a_job_without_a_budget_has_the_recipes() -> None:
    world = scenario()
    assert job_for(world, "rank", None, 4, None).budget == tiny.recipe.budget
    job = job_for(world, "rank", "best", 4, 9)
    assert job.identity["budget"] == 9
    assert job.identity != job_for(world, "rank", "best", 5, 9).identity
    assert job.training(30, "trimtab train")["steps"] == 30


def test_finite() -> None:
    good = {"a": np.ones(3), "b": np.array([1, 2]), "c": np.array([True])}
    assert finite(good)
    bad = good | {"d": np.array([1.0, np.nan]), "e": np.array(-np.inf, dtype=np.float32)}
    assert not finite(bad)
    assert infinite(bad) == ["d", "e"]
