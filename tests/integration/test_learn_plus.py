"""How ``metanet-plus`` is learned over assign policies: labels, models, caution, proof, and what comes along."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.commands import trimtab

from trimtab.control.run import build_team, run
from trimtab.errors import TrimtabError
from trimtab.learn.assign import plus
from trimtab.policies import registry
from trimtab.policies.select.plan_features import CONTEXT, PLAN
from trimtab.scenario.load import load_scenario
from trimtab.workload.build import build_workload

FEW = ("cheap-fit", "first-fit", "random")
SHORT = ["workload.duration=1000", "workload.rate=0.6"]
PRESETS = ("azure100", "azure50", "azure16", "shift", "short", "tight")


def rows(count: int, effect: float, noise: float) -> plus.Rows:
    """Two plans a state that differ in what they cost by ``effect`` times what they wake, beyond what is on paper."""
    random = np.random.default_rng(1)
    difference, about = np.zeros((count, len(PLAN))), np.zeros((count, len(CONTEXT)))
    difference[:, PLAN.index("wakes")] = random.choice([-1.0, 1.0], count)
    about[:, 0] = 1.0
    cost = effect * difference[:, PLAN.index("wakes")] + noise * random.normal(size=count)
    return plus.Rows(difference, about, cost, np.arange(count) // 2)


def test_models_find_what_a_plan_costs_beyond_paper() -> None:
    weights, scale = plus.fitted(rows(20_000, 2.0, 1.0), 1)
    assert weights.shape == (plus.MODELS, len(PLAN) * len(CONTEXT))
    found = weights[:, PLAN.index("wakes") * len(CONTEXT)] / scale[PLAN.index("wakes")]
    # ridge: 2 · n / (n + penalty), and each model saw other states
    assert found.mean() == pytest.approx(2.0 * 20_000 / (20_000 + plus.PENALTY), abs=0.05)
    assert found.std() > 0.0


@pytest.mark.parametrize(("effect", "noise", "saves"), [(3.0, 0.5, True), (0.0, 3.0, False)])
def test_choices_in_states_held_out_save_what_there_is(effect: float, noise: float, saves: bool) -> None:
    _, saved = plus.best_caution(rows(4000, effect, noise), 1)
    # of two plans one wakes a host less with probability 3/4, and saves 3
    assert (saved == pytest.approx(0.75 * 3.0, abs=0.3)) if saves else (abs(saved) < 0.2)


def test_a_learner_collects_fits_and_proves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plus, "CANDIDATES", FEW)
    monkeypatch.setattr(plus, "TRIALS", 1)
    monkeypatch.setattr(plus, "PROOFS", 3)
    learner = plus.PlusLearner(load_scenario("assign-batch", SHORT), 1, 4)
    for _ in range(3):
        progress = learner.step()
    assert learner.fallback in ("cheap-fit", "first-fit")
    assert progress.figures["rows"] == len(learner.rows.cost) > 0
    again = plus.PlusLearner(learner.scenario, 1, 4)
    again.restore(*learner.state())
    made = learner.trained()
    # random costs more than a tenth more by itself
    assert learner.fallback in made.description.settings["candidates"]
    assert set(made.description.settings["candidates"]) <= {"cheap-fit", "first-fit"}
    assert made.description.settings["proof"]["runs"] == 3
    assert made.description.settings["proven"] == (made.description.settings["proof"]["ci95"][0] > 0.0)
    for name, array in again.trained().arrays.items():
        assert np.array_equal(array, made.arrays[name])


def test_labels_tell_a_plan_that_is_dearer() -> None:
    scenario = load_scenario("assign-batch", ["workload.duration=2000"])
    collected = plus.Collector(2, ("cheap-fit", "random"), "cheap-fit", 6).run(scenario, 1_800_000, None)
    costs = np.array([cost for _, _, cost, _ in collected])
    # milli-USD: a task that is put anywhere wakes dearer machines
    assert len(costs) >= 5 and costs.mean() > 0.5


def test_it_is_trained_by_command_where_tasks_are_assigned(tmp_path: Path) -> None:
    told = trimtab("train", "faasrank-canada", "--policy", "select/metanet-plus", "--out", "out", folder=tmp_path)
    assert "this scenario's decision is 'place'" in told.complaint
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("preset", PRESETS)
def test_it_comes_along_trained_and_plans(preset: str) -> None:
    scenario = load_scenario(f"metanet-{preset}", ["workload.duration=200"])
    team = build_team(scenario, "select", "metanet-plus")
    assert set(team["select"].situation.candidates) <= set(plus.CANDIDATES)
    done = run(scenario, build_workload(scenario, 1), 1, team, "metanet-plus")
    assert done.meters["usd_per_core_hour"] > 0.0


def test_hosts_that_its_schedulers_do_not_know_are_refused() -> None:
    scenario = load_scenario("metanet-azure16", ["hosts.0.price=5"])
    with pytest.raises(TrimtabError, match="trained for other hosts"):
        build_team(scenario, "select", "metanet-plus")
    assert registry.load("select", "metanet-plus", None, "metanet-azure16").fallback in plus.CANDIDATES
