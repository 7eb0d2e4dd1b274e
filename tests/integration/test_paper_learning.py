"""Policies of a paper: trained by a recipe, or read from a folder with the curve that was kept there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trimtab.learn import recipe as recipes
from trimtab.learn.recipe import Progress, State
from trimtab.papers.effort import Effort
from trimtab.papers.learned import kept, learn, shipped
from trimtab.papers.runs import Runner
from trimtab.policies.trained import Description, Trained, load, save
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario


def policy(training: dict[str, Any] | None = None) -> Trained:
    about = Description(decision="place", policy="faasrank", recipe="paper", features=("a",), training=training or {})
    return Trained(about, {"weights": np.ones(2)})


class Counting:
    """A learner whose reward is the number of units so far."""

    def __init__(self) -> None:
        self.units = 0

    def step(self) -> Progress:
        self.units += 1
        return Progress(float(self.units), 1, {"loss": 1.0 / self.units})

    def state(self) -> tuple[State, dict[str, Any]]:
        return {}, {}

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        pass

    def trained(self) -> Trained:
        return policy()


@dataclass(frozen=True)
class CountingRecipe:
    unit: str = "episodes"
    budget: int = 400

    def start(self, scenario: Scenario, seed: int, budget: int) -> Counting:
        return Counting()

    def training(self, scenario: Scenario) -> dict[str, Any]:
        return {}


COUNTING = CountingRecipe()


class Seen:
    """What a watcher was told."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int]] = []
        self.steps = 0

    def stage(self, name: str, total: int) -> None:
        self.stages.append((name, total))

    def step(self) -> None:
        self.steps += 1


def test_training_gives_a_curve_and_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(recipes.RECIPES, ("place", "faasrank", "paper"), f"{__name__}:COUNTING")
    seen = Seen()
    found = learn(Runner(1, seen, tmp_path), "place", "faasrank", load_scenario("faasrank-canada", []))
    assert seen.stages == [("training faasrank on faasrank-canada", 400)]
    assert seen.steps == 400
    assert len(found.curve) == 200
    assert found.column("reward")[-1] == 399.5
    assert found.fresh
    assert found.hours is not None
    assert "trained now" in found.source
    assert found.folder is not None
    assert load(found.folder).description.policy == "faasrank"


def test_what_cannot_be_trained_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner, scenario = Runner(1, Seen(), tmp_path), load_scenario("faasrank-canada", [])
    assert learn(runner, "place", "nosuch", scenario).reason.startswith("not trained: ")
    monkeypatch.setitem(recipes.RECIPES, ("place", "faasrank", "paper"), "torch.nosuchpart:PAPER")
    reason = learn(runner, "place", "faasrank", scenario).reason
    assert reason.startswith("not trained: torch is not installed")


def test_a_shipped_policy_brings_its_curve(tmp_path: Path) -> None:
    save(tmp_path / "own", policy({"curve": [{"unit": 1, "reward": 2.0}]}))
    found = kept(tmp_path / "own", "place", "faasrank")
    assert found.column("reward") == [2.0]
    assert found.hours is None
    assert found.source == "faasrank: the one that comes with Trimtab (own, recipe paper)"


def test_a_folder_of_trimtab_train_has_it_beside_the_policy(tmp_path: Path) -> None:
    save(tmp_path / "own", policy())
    (tmp_path / "own" / "curve.csv").write_text("unit,reward,steps,loss\n1,-3.5,10,\n2,-3.0,10,0.5\n", encoding="utf-8")
    (tmp_path / "own" / "training.json").write_text('{"training_s": 36.0}', encoding="utf-8")
    found = kept(tmp_path / "own", "place", "faasrank")
    assert found.column("reward") == [-3.5, -3.0]
    assert found.column("loss") == [0.5]
    assert found.hours == pytest.approx(0.01)


def test_a_folder_that_does_not_load_says_why(tmp_path: Path) -> None:
    save(tmp_path / "own", policy())
    (tmp_path / "own" / "policy.json").write_text("{", encoding="utf-8")
    found = kept(tmp_path / "own", "place", "faasrank")
    assert found.folder is None
    assert "is not JSON" in found.reason


def test_no_folder_is_not_trained(tmp_path: Path) -> None:
    assert kept(tmp_path / "nothing", "place", "faasrank").source == "faasrank: not trained"


def test_parameters_reach_a_policy_of_a_paper() -> None:
    scenario, found = load_scenario("aset-full-edge", []), shipped("select", "aset", "aset-full-edge")
    guarded, alone = found.entrant(scenario), found.entrant(scenario, guard=False)
    assert guarded is not None and guarded.team["select"].selector.expectation is not None
    assert alone is not None and alone.team["select"].selector.expectation is None
    assert guarded.label == alone.label == "aset"


def test_metanets_selectors_are_trained_on_lambda_and_take_part(tmp_path: Path) -> None:
    from trimtab.papers.metanet import experiments
    from trimtab.papers.metanet.results import BASE, GRAPH, SHIFT, sample

    candidates = ["first-fit", "best-fit", "cheap-fit"]
    overrides = ("workload.duration=100", f"parameters.select={{candidates: [{', '.join(candidates)}]}}")
    effort, seen = Effort((1,), train=True, wide=False, overrides=overrides, budget=2), Seen()
    runner = Runner(1, seen, tmp_path)
    agents = experiments.agents_of(effort, runner, BASE)
    assert [name for name, _ in seen.stages] == [f"training {name} on metanet-azure100" for name in agents]
    assert all("trained now" in learned.source for learned in agents.values())
    scenario = experiments.scenario_for(SHIFT, overrides)
    team = [agents[name].entrant(scenario) for name in ("metanet", GRAPH, "select/dqn", "select/mab")]
    runs = {outcome.policy: sample(outcome) for outcome in runner.each(scenario, [each for each in team if each], (1,))}
    assert set(runs) == set(agents)
    for name in ("metanet", GRAPH):
        first, costs = runs[name].estimates[0]
        assert list(costs) == candidates
        assert runs[name].bands[0] == (first, min(costs, key=costs.__getitem__))
