"""ASET's training: repeatable, resumable, episodes that end in two ways, and better than chance on a small world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trimtab.control.run import Team, build_team, run
from trimtab.control.selecting import Selection
from trimtab.errors import TrimtabError
from trimtab.learn import recipe as recipes
from trimtab.learn.aset import AsetRecipe, Settings
from trimtab.learn.aset_best import CounterfactualRecipe
from trimtab.learn.aset_best import Settings as BestSettings
from trimtab.learn.aset_calibration import Ground
from trimtab.policies.select.aset import build
from trimtab.policies.trained import load, save
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload

SMALL = {
    "name": "small-edge",
    "decision": "route",
    "baseline": "load-balancing",
    "hosts": [
        {"name": "near", "site": "near", "cores": 4, "memory": "8 GiB"},
        {"name": "far", "site": "far", "cores": 4, "memory": "8 GiB"},
    ],
    "sites": [{"name": "near"}, {"name": "far"}],
    "variants": [
        {"name": "slow", "accuracy": 30, "batch": {"size": 1, "base": 0, "each": 0.02, "deviation": 0.5}},
        {"name": "quick", "accuracy": 30, "batch": {"size": 1, "base": 0, "each": 0.002, "deviation": 0.1}},
    ],
    "workers": [{"site": "near", "variant": "slow"}, {"site": "far", "variant": "quick"}],
    "applications": [
        {
            "name": "video",
            "deadline": [0.06, 0.06],
            "rate": [5, 10],
            "duration": [10, 30],
            "accuracy": 10,
            "size": [1, 1],
        }
    ],
    "network": {
        "links": [
            {"source": "antenna", "site": "near", "delay": 0.001},
            {"source": "antenna", "site": "far", "delay": 0.005},
        ]
    },
    "platform": {"dispatch": "cluster", "instances": "controlled"},
    "workload": {"source": "streams", "rate": 30, "warm_up": 0, "duration": 200, "longest": 30},
}
"""A near worker that is late when it is full, and a far one that never is: closest fails, farthest does not."""


@pytest.fixture(scope="module")
def small() -> Scenario:
    return Scenario.model_validate(SMALL)


PAPER = AsetRecipe(Settings(timeout=120.0, begin=24, target_every=40, batch=16))
BEST = CounterfactualRecipe(BestSettings(seconds=120.0, filled=40.0, begin=16, updates=20))


@pytest.fixture(scope="module", autouse=True)
def _short_calibration() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trimtab.learn.aset_calibration.SECONDS", 200.0)
        patch.setattr("trimtab.learn.aset_proof.SECONDS", 200.0)
        patch.setattr("trimtab.learn.aset_proof.EPISODES", 2)
        patch.setattr("trimtab.learn.aset_calibration._LOADS", (2.0,))
        patch.setattr("trimtab.learn.aset_calibration._FALLBACK_WORKLOADS", 2)
        patch.setattr("trimtab.learn.aset_calibration.WORKLOADS", 2)
        yield


def weights_of(learner: Any) -> dict[str, Any]:
    return dict(learner.trained().arrays)


def equal(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("recipe", [PAPER, BEST], ids=["paper", "best"])
def test_the_same_seed_gives_the_same_weights_and_resuming_makes_no_difference(recipe: Any, small: Scenario) -> None:
    whole, again, other = recipe.start(small, 1, 4), recipe.start(small, 1, 4), recipe.start(small, 2, 4)
    for learner in (whole, again, other):
        learner.step()
        learner.step()
    assert equal(weights_of(whole), weights_of(again))
    assert not equal(weights_of(whole), weights_of(other))
    arrays, meta = again.state()
    arrays = {name: array.copy() for name, array in arrays.items()}
    resumed = recipe.start(small, 1, 4)
    resumed.restore(arrays, meta)
    ahead, behind = [whole.step(), whole.step()], [resumed.step(), resumed.step()]
    assert ahead == behind
    assert equal(weights_of(whole), weights_of(resumed))
    assert equal(whole.state()[0], resumed.state()[0])
    assert recipes.finite(whole.state()[0])


def test_an_episode_is_terminated_below_the_threshold_and_truncated_when_time_is_up(small: Scenario) -> None:
    ground = Ground(small)
    hopeless = ground.episode(1, 0, 200.0, threshold=0.99)
    steps = [hopeless.step("closest") for _ in range(6)]
    assert [step.terminated for step in steps] == [False] * 5 + [True]
    assert not any(step.truncated for step in steps)
    patient = ground.episode(1, 0, 80.0, threshold=0.0)
    steps = [patient.step("closest") for _ in range(8)]
    assert [step.truncated for step in steps] == [False] * 7 + [True]
    assert not any(step.terminated for step in steps)


def test_calibration_finds_the_best_static_policy_and_what_it_reaches(small: Scenario) -> None:
    found = Ground(small).calibration
    assert found.ranking.index("farthest") < found.ranking.index("closest")
    expected = found.expectations[found.ranking[0]]
    assert expected.success(float(np.mean(expected.demand))) > 0.95
    assert expected.tolerance >= 0.0
    assert (found.scale > 0.0).all()
    assert Ground(small).fallback in found.ranking[:2]


def rate(scenario: Scenario, selector: Any, seeds: range) -> float:
    found: Selection = build_team(scenario, "select", "random")["select"]
    chosen = Selection(selector, found.policies, found.situation) if selector is not None else found
    reached = []
    for seed in seeds:
        team = Team({"route": found.fallback, "select": chosen})
        outcome = run(scenario, build_workload(scenario, seed), seed, team.copy(), "under test")
        reached.append(float(np.mean((outcome.status == 0) & ~outcome.late)))
    return float(np.mean(reached))


@pytest.mark.parametrize(("recipe", "episodes"), [(PAPER, 12), (BEST, 4)], ids=["paper", "best"])
def test_a_little_training_beats_random_switching(recipe: Any, episodes: int, small: Scenario) -> None:
    learner = recipe.start(small, 1, episodes)
    for _ in range(episodes):
        progress = learner.step()
        assert np.isfinite(progress.reward)
        assert progress.steps > 0
    trained = build(learner.trained(), {"guard": False})
    assert rate(small, trained, range(1, 6)) > rate(small, None, range(1, 6)) + 0.02


def test_a_selector_without_proof_leaves_the_choice_to_the_fallback(small: Scenario, tmp_path: Path) -> None:
    found = PAPER.start(small, 1, 1).trained()  # before its first episode: it knows nothing
    settings = found.description.settings
    low, high = settings["proof"]["ci95"]
    assert low <= settings["proof"]["gain"] <= high
    assert low <= 0.0
    assert settings["expectation"]["proven"] is False
    save(tmp_path / "mine", found)
    workload = build_workload(small, 1)
    alone = run(small, workload, 1, build_team(small, "route", settings["fallback"]), "alone")
    for guard in (True, False):
        team = build_team(small, "select", str(tmp_path / "mine"), {"guard": guard})
        outcome = run(small, workload, 1, team, "mine")
        stepped_in = any("not better than the fallback in training" in note for note in outcome.notes)
        assert stepped_in is guard
        if guard:
            np.testing.assert_array_equal(outcome.completion, alone.completion)


def test_a_trained_folder_comes_back_and_is_run_by_its_path(small: Scenario, tmp_path: Path) -> None:
    learner = PAPER.start(small, 1, 1)
    learner.step()
    save(tmp_path / "mine", learner.trained())
    found = load(tmp_path / "mine")
    assert equal(dict(found.arrays), weights_of(learner))
    assert found.description.recipe == "paper"
    team = build_team(small, "select", str(tmp_path / "mine"))
    outcome = run(small, build_workload(small, 1), 1, team, "mine")
    assert outcome.bands[0][0] == 0.0
    other = small.model_copy(update={"workers": small.workers[:1]})
    with pytest.raises(TrimtabError, match="trained for"):
        build_team(other, "select", str(tmp_path / "mine"))


@pytest.mark.parametrize("name", ["paper", "paper-failures", "best"])
def test_recipes_are_found_by_name(name: str, small: Scenario) -> None:
    found = recipes.find("select", "aset", name)
    assert found.unit == "episodes"
    assert found.training(small)["scenarios"] == ["small-edge"]


def test_only_routing_can_be_selected_for(small: Scenario) -> None:
    with pytest.raises(TrimtabError, match="selects route policies"):
        Ground(small.model_copy(update={"decision": "scale"}))
