"""``metanet-plus`` over scale policies, and what it sees, by numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.scale_builders import seen

from trimtab.control.scale_cost import core_price, violation_price
from trimtab.errors import TrimtabError
from trimtab.learn.select.bagging import bagged
from trimtab.learn.select.plus_scale import CANDIDATES as COMPARED
from trimtab.learn.select.plus_scale import Rows, drawn, saved_by
from trimtab.policies import registry
from trimtab.policies.select.bets import Bets, design
from trimtab.policies.select.contract import CANDIDATES, ScaleState, Situation, State
from trimtab.policies.select.scale_features import CONTEXT, DIFFERENCE, context_of, differences_of
from trimtab.policies.select.scale_plus import ScalePlus, build
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.load import load_scenario

NAMES = ("lean", "usual", "ample")
ROWS = len(DIFFERENCE) + len(NAMES)


def state(lean: tuple[int, int] = (2, 3), ample: tuple[int, int] = (9, 1)) -> ScaleState:
    asked = {"lean": np.array(lean), "usual": np.array([4, 3]), "ample": np.array(ample)}
    current, cores = np.array([4, 3], np.int32), np.array([1.0, 2.0])
    return ScaleState("usual", np.zeros(1), np.ones(len(CONTEXT)), 1.0, asked, current, cores)  # type: ignore[arg-type]


def selector(costs: dict[str, list[float]], caution: float = 0.0, proven: bool = True) -> ScalePlus:
    """One whose models say of each candidate what is given, whatever the situation."""
    models = len(next(iter(costs.values())))
    weights = np.zeros((models, ROWS, len(CONTEXT)))
    for name, found in costs.items():
        weights[:, len(DIFFERENCE) + NAMES.index(name), 0] = found
    return ScalePlus(NAMES, "usual", Bets(weights.reshape(models, -1), np.ones(ROWS), caution, proven))


def test_candidates_are_rules_that_need_no_training() -> None:
    assert set(CANDIDATES["scale"]) <= set(registry.BUILT_IN["scale"])
    assert {name.partition("(")[0] for name in COMPARED} <= set(CANDIDATES["scale"])


def test_differences_by_hand() -> None:
    found = differences_of(state(), "usual", NAMES)
    # lean: 2 instances of one core fewer; ample: 5 of one core more, 2 of two cores fewer
    assert found[:, :3].tolist() == [[-2.0, 0.0, 2.0], [0.0, 0.0, 0.0], [1.0, 5.0, 4.0]]
    assert np.array_equal(found[:, 3:], np.eye(3))


def test_the_context_by_hand() -> None:
    metrics = [
        seen(window=10.0, arrivals=200, violations=20, inflight=6.0, queued=2, ready=4, service_mean=0.1),
        seen(window=10.0, arrivals=100, violations=10, inflight=3.0, queued=1, ready=2, service_mean=0.2),
    ]
    found = dict(zip(CONTEXT, context_of(metrics, np.array([10.0, 5.0]), np.array([40.0, 20.0])), strict=True))
    # 20/s x 0.1 s + 10/s x 0.2 s = 4 Erlang on 6 instances; before 1 + 1, at the peak 4 + 4
    assert found == pytest.approx(
        {"one": 1.0, "load": 4 / 6, "trend": 0.5, "queue": 0.5, "in flight": 1.5, "violations": 0.1,
         "recent peak": 0.5, "noise": 0.5}
    )  # fmt: skip


def test_a_context_before_anything_happened_and_one_of_an_overload_are_bounded() -> None:
    quiet = context_of([seen(window=0.0, ready=0, service_mean=None)], np.zeros(1), np.zeros(1))
    assert np.isfinite(quiet).all()
    flooded = context_of([seen(arrivals=10**6, queued=10**6, inflight=1e6)], np.zeros(1), np.array([1e6]))
    assert np.abs(flooded).max() <= 3.0


def test_inputs_are_scaled_differences_times_the_context() -> None:
    found = design(np.array([[4.0, 1.0]]), np.array([[1.0, 3.0]]), np.array([2.0, 1.0]))
    assert found.tolist() == [[2.0, 6.0, 1.0, 3.0]]


def test_the_best_bet_decides_and_what_was_expected_is_kept() -> None:
    found = selector({"lean": [-1.0, -1.0], "ample": [-3.0, 1.5]})
    assert found.choose(state(), 0.0) == "lean"
    assert found.expected == pytest.approx({"lean": -1.0, "usual": 0.0, "ample": -0.75})


def test_doubt_leaves_the_fallback() -> None:
    costs = {"lean": [-1.0, 0.4], "ample": [2.0, 2.0]}  # mean -0.3, deviation 0.7
    assert selector(costs, caution=0.0).choose(state(), 0.0) == "lean"
    assert selector(costs, caution=1.0).choose(state(), 0.0) == "usual"


def test_one_that_did_not_prove_better_is_its_fallback() -> None:
    assert selector({"lean": [-9.0]}, proven=False).choose(state(), 0.0) == "usual"


def test_a_state_of_another_decision_is_refused() -> None:
    with pytest.raises(ValueError, match="scale decisions only"):
        selector({"lean": [-1.0]}).choose(State("", np.zeros(1), np.ones(1), 1.0), 0.0)


def test_other_functions_are_refused_by_name() -> None:
    found = ScalePlus(
        NAMES, "usual", Bets(np.zeros((1, 1)), np.ones(1), 0.0), features=("arrivals of a",), where="folder"
    )
    with pytest.raises(TrimtabError, match="does not know the feature 'arrivals of b'"):
        found.check(Situation("scale", NAMES, "usual", ("arrivals of b",), 60.0))


def folder(**settings: Any) -> Trained:
    usual = {"decision": "scale", "candidates": list(NAMES), "fallback": "usual", "models": 2, "caution": 1.0,
             "proven": True, "difference": list(DIFFERENCE), "context": list(CONTEXT)}  # fmt: skip
    about = Description(
        decision="select", policy="metanet-plus", recipe="best", features=("x",), settings=usual | settings
    )
    return Trained(about, {"weights": np.zeros((2, ROWS * len(CONTEXT))), "scale": np.ones(ROWS)}, "folder")


def test_a_folder_says_over_which_decision_it_is() -> None:
    assert isinstance(registry.built(folder(), "select"), ScalePlus)
    with pytest.raises(TrimtabError, match="decision = 'place', must be assign or scale"):
        registry.built(folder(decision="place"), "select")


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"fallback": "other"}, "fallback = 'other'"),
        ({"candidates": ["usual"]}, "must be two or more"),
        ({"models": 3}, "weights 'weights' have shape"),
        ({"caution": -1.0}, "caution = -1.0"),
        ({"proven": "yes"}, "proven = 'yes'"),
        ({"context": ["one"]}, "difference and context must be"),
    ],
)
def test_settings_that_do_not_fit_are_one_line(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TrimtabError, match=complaint) as caught:
        build(folder(**settings), {})
    assert "\n" not in str(caught.value)


def test_the_guard_can_be_turned_off() -> None:
    unproven = folder(proven=False)
    unproven.arrays["weights"][:, (len(DIFFERENCE) + 0) * len(CONTEXT)] = -1.0
    assert build(unproven, {}).choose(state(), 0.0) == "usual"
    assert build(unproven, {"guard": False}).choose(state(), 0.0) == "lean"


def test_bagged_models_find_a_line_and_repeat() -> None:
    random = np.random.default_rng(1)
    inputs = random.normal(size=(400, 2))
    labels = inputs @ [2.0, -1.0]
    found = bagged(inputs, labels, np.arange(400) // 4, 5, 1e-6, 3)
    assert found == pytest.approx(np.tile([2.0, -1.0], (5, 1)), abs=1e-6)
    assert np.array_equal(found, bagged(inputs, labels, np.arange(400) // 4, 5, 1e-6, 3))


def test_what_is_saved_is_counted_in_runs_that_were_not_fitted() -> None:
    rows, names = Rows.none(), len(COMPARED)
    cheap = 3  # costs 2 less than the fallback in every state, the others 1 more
    differences = np.concatenate([np.zeros((names, len(DIFFERENCE))), np.eye(names)], axis=1)
    numbers = [(differences[each], np.ones(len(CONTEXT)), -2.0 if each == cheap else 1.0) for each in range(1, names)]
    for run in range(4):
        rows = rows.with_more(30 * numbers, run)
    assert saved_by(rows, 1) == pytest.approx(2.0)
    assert saved_by(rows.some(rows.run == 0), 1) == 0.0


def test_prices() -> None:
    scenario = load_scenario("autoscale-select")
    # 0.68 USD an hour for 16 cores
    assert core_price(scenario) == pytest.approx(0.68 / 16 / 3600)
    assert violation_price(scenario) == 0.00006
    # no price of a violation: five core-seconds; no price of hosts: core-seconds
    assert violation_price(load_scenario("autoscale-spikes")) == pytest.approx(5 * 0.68 / 16 / 3600)
    assert core_price(load_scenario("autoscale-boost")) == 1.0


def test_training_draws_other_spikes_than_the_scenario() -> None:
    scenario = load_scenario("autoscale-select")
    assert drawn(scenario, 1_000_007).workload.draw == 1_000_007  # type: ignore[union-attr]
    steady = load_scenario("peers-a")
    assert drawn(steady, 7) is steady
