"""Selectors over scale policies in runs: windows, warm forecasts, costs, oracles, training, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.commands import trimtab
from tests.integration.test_select_runs import Listed

from trimtab.control.run import Driver, Team, build_team, run
from trimtab.control.scale_cost import core_price
from trimtab.control.scale_lookahead import scale_outlook
from trimtab.control.selecting import Selection, selectors_of
from trimtab.errors import TrimtabError
from trimtab.learn.recipe import find
from trimtab.learn.select import plus_scale
from trimtab.policies import trained
from trimtab.policies.scale.holt import HoltState
from trimtab.policies.select.contract import CANDIDATES, ScaleState
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

SHORT = [
    "workload.duration=600",
    "workload.cycle=600",
    "workload.peak_load=12",
    "workload.spikes=4",
    "control.window=60",
]
SETTINGS = [part for each in SHORT for part in ("--set", each)]


def world(*more: str) -> Scenario:
    return load_scenario("autoscale-select", [*SHORT, *more])


def team_of(scenario: Scenario, selector: Any) -> Team:
    team = build_team(scenario, "select", "round-robin")
    found = team["select"]
    return Team({**team.policies, "select": Selection(selector, found.policies, found.situation)})


def ran(scenario: Scenario, selector: Any, seed: int = 1) -> Outcome:
    return run(scenario, build_workload(scenario, seed), seed, team_of(scenario, selector), "under test")


def named(scenario: Scenario, name: str, seed: int = 1) -> Outcome:
    decision = "scale" if name in CANDIDATES["scale"] else "select"
    return run(scenario, build_workload(scenario, seed), seed, build_team(scenario, decision, name), name)


@pytest.mark.parametrize("name", CANDIDATES["scale"])
def test_a_selector_that_never_changes_is_the_static_policy(name: str) -> None:
    same, static = ran(world(), Listed(name)), named(world(), name)
    assert np.array_equal(same.completion, static.completion, equal_nan=True)
    assert same.meters["core_seconds"] == pytest.approx(static.meters["core_seconds"], rel=1e-12)
    assert same.meters["changes_per_hour"] == static.meters["changes_per_hour"]
    assert same.bands == [(0.0, name)]


def test_a_period_of_the_scenario_is_everybodys() -> None:
    scenario = world("control.period=5")
    same, static = ran(scenario, Listed("hpa")), named(scenario, "hpa")
    assert np.array_equal(same.completion, static.completion, equal_nan=True)


def test_metrics_that_come_late_come_late_to_candidates() -> None:
    scenario = world("control.metrics_delay=20")
    same, static = ran(scenario, Listed("holt")), named(scenario, "holt")
    assert np.array_equal(same.completion, static.completion, equal_nan=True)


def test_policies_change_at_the_windows_and_only_there() -> None:
    selector = Listed("hpa", "hpa", "square-root", "kpa", "kpa", "square-root")
    outcome = ran(world(), selector)
    assert [now for now, _ in selector.states][:10] == pytest.approx(60.0 * np.arange(10))
    assert outcome.bands == [(0.0, "hpa"), (120.0, "square-root"), (180.0, "kpa"), (300.0, "square-root")]
    assert [each.policy for each in selector.outcomes][:5] == selector.names[:5]
    assert outcome.meters["switches"] == 3.0


def test_a_window_that_is_no_multiple_of_a_period() -> None:
    selector = Listed("hpa", "square-root")
    ran(world("control.window=7.5"), selector)
    assert [now for now, _ in selector.states][:4] == pytest.approx([0.0, 7.5, 15.0, 22.5])


def test_what_is_seen_is_what_happens() -> None:
    scenario, selector = world(), Listed("square-root")
    outcome = ran(scenario, selector)
    names = selector.situation.features
    for now, state in selector.states[1:9]:
        assert isinstance(state, ScaleState)
        seen = dict(zip(names, state.features, strict=True))
        arrived = np.count_nonzero((outcome.arrival >= now - 60.0) & (outcome.arrival < now))
        assert seen["arrivals of fibonacci"] == pytest.approx(arrived / 60.0)
        assert state.demand == seen["arrivals of fibonacci"]
        assert seen["ready of fibonacci"] + seen["starting of fibonacci"] == state.current[0]
        assert set(state.asked) == set(CANDIDATES["scale"])
    assert len({tuple(int(each[0]) for each in state.asked.values()) for _, state in selector.states}) > 5


def test_forecasts_stay_warm_while_another_policy_decides() -> None:
    scenario = world()
    workload = build_workload(scenario, 1)
    simulation = Simulation(scenario, workload, 1, place=build_team(scenario, "scale", "fixed")["place"])
    driver = Driver(scenario, simulation, team_of(scenario, Listed("hpa")), 1)
    driver.drive(200.0)
    assert driver.scaler is not None
    holt = driver.scaler.watch.states["holt"][0]
    assert isinstance(holt, HoltState)
    assert holt.time == pytest.approx(200.0, abs=1.0)
    recent = np.count_nonzero((workload.arrival > 180.0) & (workload.arrival <= 200.0)) / 20.0
    assert holt.level == pytest.approx(recent, rel=0.4)
    assert driver.scaler.bands == [(0.0, "hpa")]


def test_outcomes_and_costs_of_windows_add_up_to_those_of_the_run() -> None:
    selector, scenario = Listed("hpa", "square-root", "kpa"), world()
    outcome = ran(scenario, selector)
    windows, last = selector.outcomes, selector.states[-1][0]
    ended = outcome.completion < last
    assert sum(each.ended for each in windows) == np.count_nonzero(ended)
    late = int(np.count_nonzero(outcome.late & ended))
    assert sum(each.failed for each in windows) == late > 0
    spent = sum((each.cost or 0.0) * each.ended for each in windows)
    core = core_price(scenario)
    violations = outcome.meters["violations_usd"]
    assert outcome.meters["instances_usd"] == pytest.approx(outcome.meters["core_seconds"] * core)
    assert outcome.meters["scaling_usd"] == pytest.approx(outcome.meters["instances_usd"] + violations)
    # what is held and late after the last window is not in it
    assert 0.8 * outcome.meters["scaling_usd"] < spent <= outcome.meters["scaling_usd"] * (1 + 1e-9)


def test_the_same_seed_gives_the_same_run() -> None:
    one, two, other = (named(world(), "random", seed) for seed in (3, 3, 4))
    assert one.bands == two.bands != other.bands
    assert np.array_equal(one.completion, two.completion, equal_nan=True)


def test_an_answer_that_is_no_candidate_is_replaced_and_counted() -> None:
    outcome = ran(world(), Listed("kpa", "none", "kpa"))
    assert outcome.bands == [(0.0, "kpa"), (60.0, "hpa"), (120.0, "kpa")]
    assert "guard: unknown policy, 1 times" in outcome.notes


def test_a_look_ahead_leaves_the_run_alone_and_is_what_happens() -> None:
    scenario = world()
    place = build_team(scenario, "scale", "fixed")["place"]
    drivers = []
    for _ in range(2):
        simulation = Simulation(scenario, build_workload(scenario, 1), 1, place=place)
        drivers.append(Driver(scenario, simulation, team_of(scenario, Listed("kpa")), 1))
        drivers[-1].drive(130.0)
    scaler = drivers[0].scaler
    assert scaler is not None
    costs = {name: scale_outlook(scaler.watch, name, "kpa", 60.0, 120.0) for name in CANDIDATES["scale"]}
    assert len(set(costs.values())) > 3
    for driver in drivers:
        driver.finish()
    assert drivers[0].meters() == drivers[1].meters()
    results = [driver.simulation.core.results["completion"] for driver in drivers]
    assert np.array_equal(*results, equal_nan=True)


def test_the_best_static_policy_costs_what_the_cheapest_does_and_the_clairvoyant_less_than_random() -> None:
    scenario = world()
    usd = {name: named(scenario, name).meters["scaling_usd"] for name in (*CANDIDATES["scale"], "random")}
    best = named(scenario, "best-static")
    cheapest = min(CANDIDATES["scale"], key=lambda name: usd[name])
    assert best.bands == [(0.0, cheapest)]
    assert best.meters["scaling_usd"] == pytest.approx(usd[cheapest])
    assert named(scenario, "clairvoyant").meters["scaling_usd"] < usd["random"]


def test_compare_takes_selectors_over_scale_policies(tmp_path: Path) -> None:
    names = "square-root,hpa,select/mab,select/random,select/round-robin,metanet-plus"
    result = trimtab(
        "compare", "autoscale-spikes", *SETTINGS, "--seeds", "1", "--policies", names, "--oracles", "--out", "out",
        folder=tmp_path,
    )  # fmt: skip
    assert result.code == 0, result.err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Which policy was in use" in page
    for name in ("mab", "select/round-robin", "clairvoyant", "metanet-plus"):
        assert f"{name} used" in page


def test_selectors_are_listed_where_one_fits() -> None:
    assert {"mab", "select/random", "select/round-robin"} <= set(selectors_of(load_scenario("autoscale-hotel")))
    assert "metanet-plus" in selectors_of(load_scenario("autoscale-select"))
    # other prices and start-up times: only where it is named
    assert "metanet-plus" not in selectors_of(load_scenario("autoscale-spikes"))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three candidates, and few trials."""
    monkeypatch.setattr(plus_scale, "CANDIDATES", ("square-root", "hpa", "square-root(c=3)"))
    monkeypatch.setattr(plus_scale, "_TRIALS", 1)
    monkeypatch.setattr(plus_scale, "_PROOFS", 2)
    monkeypatch.setattr(plus_scale, "CAUTIONS", (0.0, 1.0))


@pytest.mark.usefixtures("quick")
def test_training_end_to_end(tmp_path: Path) -> None:
    result = trimtab(
        "train", "autoscale-select", *SETTINGS, "--policy", "select/metanet-plus", "--budget", "3",
        "--evaluation-seeds", "2", "--out", "out", folder=tmp_path,
    )  # fmt: skip
    assert result.code == 0, result.err
    about = trained.describe(tmp_path / "out")
    assert about.settings["decision"] == "scale"
    assert about.settings["fallback"] in about.settings["candidates"] == ["square-root", "hpa", "square-root(c=3)"]
    proof = about.settings["proof"]
    assert about.settings["proven"] == (proof["ci95"][0] > 0.0)
    assert {"square-root", "select/random"} <= about.evaluation["baselines"].keys()
    free = build_team(world(), "select", str(tmp_path / "out"), {"guard": False, "caution": 0.0})
    outcome = run(world(), build_workload(world(), 1), 1, free, "out")
    assert {name for _, name in outcome.bands} <= set(about.settings["candidates"])
    assert len(outcome.estimates) > 5
    refused = trimtab(
        "compare", "autoscale-hotel", "--policies", str(tmp_path / "out"), "--seeds", "1", folder=tmp_path
    )  # fmt: skip
    assert "does not know the feature 'arrivals of frontend'" in refused.complaint
    other = trimtab("compare", "assign-batch", "--policies", str(tmp_path / "out"), "--seeds", "1", folder=tmp_path)
    assert "is a scale policy, the decision here is assign" in other.complaint


@pytest.mark.usefixtures("quick")
def test_a_training_that_goes_on_is_the_same_to_the_last_bit() -> None:
    scenario, recipe = world(), find("select", "metanet-plus", "best")
    whole, first, second = (recipe.start(scenario, 1, 3) for _ in range(3))
    for _ in range(3):
        whole.step()
    for _ in range(2):
        first.step()
    second.restore(*first.state())
    second.step()
    arrays, meta = second.state()
    assert meta == whole.state()[1]
    assert all(np.array_equal(array, arrays[name]) for name, array in whole.state()[0].items())
    assert len(arrays["cost"]) > 10
    # every state has the two that are not the fallback, and their labels differ
    assert np.unique(arrays["cost"]).size > 5


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("train", "autoscale-spikes", "--policy", "select/metanet-plus"), "violation_price = 0 must be above 0"),
        (("train", "autoscale-boost", "--policy", "select/metanet-plus"), "hosts.price and violation_price"),
        (("train", "faasrank-m1", "--policy", "metanet-plus"), "this scenario's decision is 'place'"),
        (("compare", "autoscale-hotel", "--policies", "metanet-plus"), "is not trained yet for this scenario"),
        (("compare", "autoscale-spikes", "--policies", "rollout", "--seeds", "1"), "selects among assign policies"),
    ],
)
def test_scenarios_that_do_not_suit_are_one_line(arguments: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    assert complaint in trimtab(*arguments, folder=tmp_path).complaint


def test_a_run_too_short_to_label_anything_says_so() -> None:
    learner = plus_scale.BEST.start(world("workload.duration=60"), 1, 1)
    with pytest.raises(TrimtabError, match="no window was labelled"):
        learner.trained()
