"""ASET without a run: rewards, exploration, memory, network, choice, and what a folder must hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from trimtab.errors import TrimtabError
from trimtab.learn.aset import Settings, exploration
from trimtab.learn.aset_episode import FAILURES, SUCCESS
from trimtab.learn.aset_replay import Replay
from trimtab.learn.convolution import ConvolutionNetwork
from trimtab.learn.ridge import Ridge
from trimtab.policies.select.aset import build, choice
from trimtab.policies.select.contract import Situation, State, WindowOutcome
from trimtab.policies.select.convolution import forward
from trimtab.policies.trained import Description, Trained

FEATURES = tuple(f"f{index}" for index in range(12))
NAMES = ("a", "b", "c")
SITUATION = Situation("route", NAMES, "b", FEATURES, 10.0)
EXPECTATION = {"demand": [1.0, 2.0], "rate": [0.9, 0.8], "tolerance": 0.1}


def trained(changes: dict[str, Any] | None = None, arrays: dict[str, Any] | None = None) -> Trained:
    settings: dict[str, Any] = {
        "candidates": list(NAMES), "fallback": "b", "steps": 8, "margin": 0.0, "expectation": EXPECTATION,
    }  # fmt: skip
    weights = ConvolutionNetwork(8, len(FEATURES), len(NAMES), 1).arrays()
    weights |= {"mean": np.arange(12, dtype=np.float32), "scale": np.full(12, 2.0, np.float32)}
    description = Description(
        decision="select", policy="aset", recipe="paper", features=FEATURES, settings=settings | (changes or {})
    )
    return Trained(description, weights | (arrays or {}), "here")


def test_the_first_reward_is_the_share_that_succeeded() -> None:
    assert SUCCESS(WindowOutcome("a", 60, 30, 10)) == pytest.approx(0.6)


def test_the_second_reward_is_minus_failed_and_half_the_rejected() -> None:
    # (30 + 10 / 2) / 100
    assert FAILURES(WindowOutcome("a", 60, 30, 10)) == pytest.approx(-0.35)


def test_a_window_in_which_nothing_ended_brings_no_reward() -> None:
    assert SUCCESS(WindowOutcome("a", 0, 0, 0)) == FAILURES(WindowOutcome("a", 0, 0, 0)) == 0.0


def test_exploration_falls_in_a_line_to_its_least_and_stays() -> None:
    settings = Settings(least_exploration=0.1, explored=0.5)
    rates = [exploration(settings, done, 100) for done in (0, 25, 50, 75, 99)]
    assert rates == pytest.approx([1.0, 0.55, 0.1, 0.1, 0.1])


@pytest.mark.parametrize(("steps", "features"), [(8, 12), (8, 122), (9, 17)])
def test_numpy_agrees_with_torch(steps: int, features: int) -> None:
    network = ConvolutionNetwork(steps, features, 7, 3)
    states = np.random.default_rng(1).normal(size=(20, steps, features)).astype(np.float32) * 3
    with torch.no_grad():
        wanted = network(torch.from_numpy(states)).numpy()
    found = np.stack([forward(network.arrays(), state) for state in states])
    assert np.abs(found - wanted).max() < 1e-5


def test_the_same_seed_gives_the_same_network_whatever_else_torch_did() -> None:
    first = ConvolutionNetwork(8, 12, 3, 5).arrays()
    torch.rand(3)
    again, other = ConvolutionNetwork(8, 12, 3, 5).arrays(), ConvolutionNetwork(8, 12, 3, 6).arrays()
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["hidden.weight"], other["hidden.weight"])


def filled() -> Replay:
    """Two episodes of two windows with rows 1, 2, 3 and 4, 5, 6; only the second ended for good."""
    replay = Replay(2, 100)
    for first, terminated in ((1.0, False), (4.0, True)):
        replay.begin(np.array([first]))
        replay.add(0, first, np.array([first + 1.0]), False)
        replay.add(1, first + 1.0, np.array([first + 2.0]), terminated)
    return replay


def test_states_are_cut_out_of_their_own_episode() -> None:
    batch = filled().sample(np.random.default_rng(1), 200)
    seen = {
        (*state[:, 0], int(action), float(reward), *following[:, 0], float(hopeful))
        for state, action, reward, following, hopeful in zip(
            batch.states, batch.actions, batch.rewards, batch.following, batch.hopeful, strict=True
        )
    }
    # a time limit is no end: the last transition of the first episode still hopes for what follows
    assert seen == {
        (0.0, 1.0, 0, 1.0, 1.0, 2.0, 1.0),
        (1.0, 2.0, 1, 2.0, 2.0, 3.0, 1.0),
        (0.0, 4.0, 0, 4.0, 4.0, 5.0, 1.0),
        (4.0, 5.0, 1, 5.0, 5.0, 6.0, 0.0),
    }


def test_experience_comes_back_from_arrays_and_the_oldest_is_forgotten() -> None:
    replay, other = filled(), Replay(2, 100)
    other.restore(replay.arrays())
    one, two = (each.sample(np.random.default_rng(7), 50) for each in (replay, other))
    assert np.array_equal(one.states, two.states)
    assert np.array_equal(one.hopeful, two.hopeful)
    small = Replay(2, 2)
    small.restore(replay.arrays())
    small.begin(np.array([9.0]))
    small.add(2, 0.5, np.array([10.0]), False)
    assert [each.actions.tolist() for each in small.episodes] == [[2]]


def test_ridge_finds_a_line_and_ignores_what_is_not_labelled() -> None:
    random = np.random.default_rng(1)
    inputs = random.normal(size=(4000, 3))
    labels = np.stack([1.0 + 2.0 * inputs[:, 0], -inputs[:, 1] + random.normal(size=4000)], axis=1)
    labels[random.random(4000) < 0.5, 1] = np.nan
    found = Ridge.fit(inputs, labels).predict(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    assert found[0, 0] == pytest.approx(3.0, abs=0.15)
    assert found[1, 1] == pytest.approx(-1.0, abs=0.15)


@pytest.mark.parametrize(
    ("values", "margin", "answer"),
    [
        ([1.0, 2.0, 3.0], 0.0, "c"),
        ([1.0, 2.0, 3.0], 1.5, "b"),
        ([2.0, 2.0, 2.0], 0.0, "b"),
        ([5.0, 2.0, 3.0], 2.9, "a"),
    ],
)
def test_another_policy_than_the_fallback_must_be_worth_the_margin(
    values: list[float], margin: float, answer: str
) -> None:
    assert choice(np.array(values), NAMES, "b", margin) == answer


def test_a_value_that_is_not_a_number_is_an_error_for_the_guard() -> None:
    with pytest.raises(FloatingPointError):
        choice(np.array([1.0, np.nan]), ("a", "b"), "a", 0.0)


def test_the_state_is_the_last_windows_normalised_with_zeros_before_the_first() -> None:
    policy = build(trained(), {})
    policy.reset(SITUATION, 1)
    for step in (1.0, 3.0):
        policy.choose(State("b", np.arange(12) + step, np.zeros(4), 1.0), 0.0)
    rows = policy._rows
    assert rows.shape == (8, 12)
    # (mean + step - mean) / 2
    assert np.allclose(rows[-2:], [[0.5], [1.5]])
    assert not rows[:-2].any()
    policy.reset(SITUATION, 1)
    assert not policy._rows.any()


def test_the_guard_of_a_trained_selector_can_be_turned_off() -> None:
    expected = build(trained(), {}).expectation
    assert expected is not None
    assert expected.success(1.5) == pytest.approx(0.85)
    assert build(trained(), {"guard": False}).expectation is None


@pytest.mark.parametrize(
    ("changes", "arrays", "complaint"),
    [
        ({"fallback": "z"}, {}, "fallback = 'z', must be one of its candidates"),
        ({"candidates": []}, {}, r"candidates = \[\], must be a list of names"),
        ({"candidates": ["a", "b"]}, {}, "weights 'output.weight' have shape"),
        ({"steps": 4}, {}, "steps = 4, must be a number from 8 on"),
        ({"steps": 16}, {}, "weights 'hidden.weight' have shape"),
        ({"margin": -1.0}, {}, "margin = -1.0, must be a number from 0 on"),
        ({"margin": "wide"}, {}, "margin = 'wide', must be a number from 0 on"),
        ({"expectation": {"demand": [1.0]}}, {}, "expectation must hold demand, rate and tolerance"),
        ({"expectation": EXPECTATION | {"demand": [2.0, 1.0]}}, {}, "demand must rise"),
        ({}, {"scale": np.zeros(12, np.float32)}, "scale must be above 0"),
        ({}, {"mean": np.zeros(3, np.float32)}, "weights 'mean' have shape"),
        ({}, {"more": np.zeros(3, np.float32)}, "weights hold 'more'"),
    ],
)
def test_a_folder_that_does_not_fit_is_refused_in_one_line(
    changes: dict[str, Any], arrays: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(TrimtabError, match=complaint) as caught:
        build(trained(changes, arrays), {})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "complaint"), [({"gard": True}, "'gard', must be"), ({"guard": 1}, "guard = 1")]
)
def test_a_parameter_that_does_not_exist_is_refused(parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TrimtabError, match=complaint):
        build(trained(), parameters)


@pytest.mark.parametrize("features", [(*FEATURES[:-1], "other"), FEATURES[::-1], FEATURES[:-1]])
def test_other_workers_than_those_of_training_are_refused(features: tuple[str, ...]) -> None:
    with pytest.raises(TrimtabError, match="here: trained for"):
        build(trained(), {}).check(Situation("route", NAMES, "b", features, 10.0))
