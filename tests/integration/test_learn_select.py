"""Λ and what is learned from it, end to end: collected as it is served, trained, loaded from disk, run, refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.commands import trimtab

from trimtab.control.run import Team, build_team, run
from trimtab.errors import TrimtabError
from trimtab.learn.recipe import TRAINING_SEEDS, Learner, find
from trimtab.learn.select.dataset import Dataset, collect
from trimtab.learn.select.learner import Settings
from trimtab.policies import registry, trained
from trimtab.policies.assign.runtime import runtime_of
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload

NAMES = ("random", "first-fit", "cheap-fit")
CANDIDATES = f"parameters.select.candidates=[{', '.join(NAMES)}]"
SHORT = (CANDIDATES, "workload.duration=400", "workload.rate=1")


@pytest.fixture(scope="module")
def small() -> Scenario:
    return load_scenario("metanet-azure16", SHORT)


@pytest.fixture(scope="module")
def data(small: Scenario) -> Dataset:
    return collect(small, 1, 30)


def learner(small: Scenario, policy: str, recipe: str, budget: int) -> Learner:
    found: Any = find("select", policy, recipe)
    return replace(found, settings=Settings(recipe, intervals=30)).start(small, 1, budget)  # type: ignore[no-any-return]


def test_lambda_holds_every_policy_from_an_empty_cluster_on(data: Dataset) -> None:
    assert data.candidates == NAMES
    assert (np.bincount(data.policy) > 20).all()
    for each in range(len(NAMES)):
        rows = np.flatnonzero(data.policy == each)
        assert not data.states[rows[0]].any()  # W and H zero, S an empty graph
        assert data.states[rows[10]].any()
        assert np.array_equal(data.following[rows[:-1]], data.states[rows[1:]])
        assert data.most[each].tolist() == data.outcomes[rows].max(0).tolist()
    assert (data.outcomes[:, 0] > 0.0).all()
    assert data.cheapest != "random"


def test_lambda_repeats_and_its_workload_is_one_of_training(small: Scenario, data: Dataset) -> None:
    again = collect(small, 1, 30)
    assert np.array_equal(again.states, data.states)
    assert np.array_equal(again.outcomes, data.outcomes)
    assert not np.array_equal(collect(small, 2, 30).outcomes[:40], data.outcomes[:40])


def test_lambda_is_of_assign_policies_only() -> None:
    with pytest.raises(TrimtabError, match="this scenario's decision is 'place'"):
        collect(load_scenario("faasrank-m1"), 1)


@pytest.mark.parametrize("recipe", ["paper", "graph"])
def test_what_is_served_is_what_was_trained(small: Scenario, data: Dataset, recipe: str, tmp_path: Path) -> None:
    made = learner(small, "metanet", recipe, 40)
    progress = [made.step() for _ in range(40)]
    assert progress[-1].figures["loss"] < 0.5 * progress[0].figures["loss"]
    trained.save(tmp_path / "metanet", made.trained())
    selection = build_team(small, "select", str(tmp_path / "metanet"))["select"]
    selector = selection.selector
    selector.reset(selection.situation, 1)
    # the features of a row of Λ, as they are, give what training says of it
    for row in (0, 15, len(data.policy) - 1):
        predicted = selector.predict(data.states[row])[data.policy[row]]
        inside = made.surrogate.forward(made.weights, data.states[[row]], data.policy[[row]]).outputs[0]  # type: ignore[attr-defined]
        expected = data.most[data.policy[row]] / (1.0 + np.exp(-inside))
        assert predicted == pytest.approx(expected, rel=1e-4)


def test_a_run_meets_the_states_that_lambda_holds(tmp_path: Path) -> None:
    # hosts wake at once: else the selector, unlike the policies of Λ, would first wait for a host to run on
    small = load_scenario("metanet-azure16", [*SHORT, "platform.wake=0"])
    data = collect(small, 1, 30)
    trained.save(tmp_path / "metanet", _stepped(learner(small, "metanet", "paper", 1)).trained())
    team = build_team(small, "select", str(tmp_path / "metanet"))
    selector = team["select"].selector
    seen: list[Any] = []
    choose = selector.choose

    def watched(state: Any, now: float) -> str:
        seen.append(state.features)
        choose(state, now)
        return NAMES[1]

    selector.choose = watched
    seed = TRAINING_SEEDS + 1
    run(small, build_workload(small, seed), seed, Team(team.policies), "metanet")
    rows = data.states[data.policy == 1]
    # but for the fraction of a second that the selector itself takes
    assert np.array(seen[: len(rows)]) == pytest.approx(rows, abs=2e-3)


def _stepped(made: Learner) -> Learner:
    made.step()
    return made


@pytest.mark.parametrize("policy", ["metanet", "dqn"])
def test_a_training_goes_on_to_the_last_bit(small: Scenario, policy: str) -> None:
    whole, first, second = (learner(small, policy, "paper", 4) for _ in range(3))
    for _ in range(4):
        whole.step()
    for _ in range(2):
        first.step()
    arrays, meta = first.state()
    second.restore(arrays, json.loads(json.dumps(meta)))
    for _ in range(2):
        second.step()
    one, two = whole.trained(), second.trained()
    assert one.description == two.description
    assert all(np.array_equal(one.arrays[name], two.arrays[name]) for name in one.arrays)


@pytest.mark.parametrize(
    ("policy", "budget", "seeds"), [("metanet", "3", "101,"), ("dqn", "3", "none"), ("mab", "1", "none")]
)
def test_train_and_run_by_command(policy: str, budget: str, seeds: str, tmp_path: Path) -> None:
    given = [part for each in SHORT for part in ("--set", each)]
    made = trimtab(
        "train", "metanet-azure16", *given, "--policy", f"select/{policy}", "--budget", budget, "--out", policy,
        "--evaluation-seeds", seeds, folder=tmp_path,
    )  # fmt: skip
    assert made.code == 0, made.err
    about = trained.describe(tmp_path / policy)
    assert about.settings["candidates"] == list(NAMES)
    assert bool(about.evaluation) == (seeds != "none") == ("Not evaluated" not in made.out)
    assert about.settings["fallback"] in NAMES[1:]
    assert about.training["first_workload_seed"] == TRAINING_SEEDS
    compared = trimtab(
        "compare", "metanet-azure16", *given, "--policies", f"first-fit,./{policy}", "--seeds", "101,", "--json", "-",
        folder=tmp_path,
    )  # fmt: skip
    assert compared.json["policies"][policy]["completed"] > 0
    if policy != "mab":
        other = trimtab(
            "compare", "metanet-azure50", "--policies", f"./{policy}", "--set", CANDIDATES, folder=tmp_path
        )  # fmt: skip
        assert "trained for other hosts or applications, does not know the feature 'cpu of " in other.complaint


def test_calibration_writes_a_table_that_runs_can_use(tmp_path: Path) -> None:
    made = trimtab(
        "calibrate", "schedulers", "--policies", "first-fit,cheap-fit", "--intervals", "2", "--out", "times.json",
        folder=tmp_path,
    )  # fmt: skip
    assert made.code == 0, made.err
    written = json.loads((tmp_path / "times.json").read_text())
    assert list(written["schedulers"]) == ["first-fit", "cheap-fit"]
    assert written["measured_on"]
    found = runtime_of("cheap-fit", str(tmp_path / "times.json"))
    assert 0.0 < found.seconds(10, 16) < 1.0
    assert runtime_of("nobody", str(tmp_path / "times.json")).seconds(10, 16) == 0.0
    assert "policy = 'gobbi'" in trimtab("calibrate", "schedulers", "--policies", "gobbi", folder=tmp_path).complaint


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "cannot be read"),
        ("{", "must be a file that trimtab calibrate schedulers has written"),
        ('{"schedulers": []}', "must be a file that trimtab calibrate schedulers has written"),
        ('{"schedulers": {"first-fit": {"speed": 1}}}', "must be a file that trimtab calibrate schedulers has written"),
        ('{"schedulers": {"first-fit": {"fixed": -1}}}', "fixed = -1, must be a number from 0 on"),
    ],
)
def test_a_table_of_run_times_that_is_none(content: str | None, complaint: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "times.json").write_text(content)
    told = trimtab(
        "compare", "metanet-azure16", "--policies", "first-fit", "--set", f"scheduling.runtime={tmp_path}/times.json",
        "--seeds", "101,", folder=tmp_path,
    )  # fmt: skip
    assert complaint in told.err
    assert told.code == 2


def test_measured_time_needs_a_scenario_that_charges(tmp_path: Path) -> None:
    told = trimtab("compare", "assign-batch", "--measured-overhead", folder=tmp_path)
    assert "--measured-overhead: this scenario has no 'scheduling'" in told.complaint
    short = ("--set", "workload.duration=100", "--seeds", "101,", "--json", "-")
    done = trimtab(
        "compare", "metanet-azure16", "--policies", "first-fit", "--measured-overhead", *short, folder=tmp_path
    )
    assert done.json["policies"]["first-fit"]["scheduling_s"] > 0.0


def test_every_selector_of_schedulers_ships_for_its_scenarios() -> None:
    for name in ("metanet", "dqn", "mab"):
        for scenario in ("azure100", "azure50", "azure16", "shift", "short", "tight"):
            folder = trained.shipped("select", name, f"metanet-{scenario}")
            assert folder is not None, (name, scenario)
            registry.built(trained.load(folder), "select")
