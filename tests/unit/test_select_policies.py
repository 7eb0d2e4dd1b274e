"""Selectors without training, and the guard around every selector, by hand-made states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from trimtab.control.select_guard import SelectGuard
from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.select.contract import CANDIDATES, Expectation, Situation, State, WindowOutcome
from trimtab.policies.select.mab import Bandit

SITUATION = Situation("route", ("a", "b", "c"), "b", ("load",), 10.0)


def state(demand: float = 100.0, value: float = 1.0, busy: float = 0.5) -> State:
    return State("b", np.array([value]), np.array([1.0, busy, busy, 1.0]), demand)


def outcome(policy: str, success: float) -> WindowOutcome:
    good = round(success * 100)
    return WindowOutcome(policy, good, 100 - good, 0)


class Answers:
    """A selector that says what it is told to."""

    name = "answers"
    decision = "select"

    def __init__(self, answer: Callable[[], Any], expectation: Expectation | None = None) -> None:
        self.answer, self.expectation = answer, expectation
        self.learned: list[WindowOutcome] = []

    def reset(self, situation: Situation, seed: int) -> None:
        pass

    def choose(self, state: State, now: float) -> Any:
        return self.answer()

    def learn(self, outcome: WindowOutcome) -> None:
        self.learned.append(outcome)


def chosen(name: str, seed: int, count: int) -> list[str]:
    selector = registry.load("select", name)
    selector.reset(SITUATION, seed)
    return [selector.choose(state(), 10.0 * window) for window in range(count)]


def test_the_candidates_of_routing_are_the_seven_of_the_paper() -> None:
    assert set(CANDIDATES["route"]) <= set(registry.BUILT_IN["route"])
    assert len(CANDIDATES["route"]) == 7


def test_round_robin_takes_every_candidate_in_turn() -> None:
    assert chosen("round-robin", 1, 5) == ["a", "b", "c", "a", "b"]


def test_random_draws_all_candidates_and_repeats_with_its_seed() -> None:
    drawn = chosen("random", 1, 300)
    assert drawn == chosen("random", 1, 300)
    assert drawn != chosen("random", 2, 300)
    assert all(70 < drawn.count(name) < 130 for name in "abc")


def test_a_window_in_which_nothing_ended_counts_as_success() -> None:
    assert WindowOutcome("a", 0, 0, 0).success == 1.0
    assert WindowOutcome("a", 6, 1, 3).success == 0.6


def test_mab_tries_everything_then_keeps_to_the_best() -> None:
    bandit, worth = Bandit(), {"a": 0.5, "b": 0.9, "c": 0.6}
    bandit.reset(SITUATION, 1)
    taken = []
    for window in range(60):
        taken.append(bandit.choose(state(), 10.0 * window))
        bandit.learn(outcome(taken[-1], worth[taken[-1]]))
    assert set(taken[:6]) == {"a", "b", "c"}
    assert set(taken[-20:]) == {"b"}


def test_mab_tells_contexts_apart() -> None:
    # a is good in quiet windows, c in busy ones
    bandit = Bandit()
    bandit.reset(SITUATION, 1)
    for window in range(200):
        busy = float(window % 2)
        name = bandit.choose(state(busy=busy), 0.0)
        good = {"a": 1.0 - busy, "b": 0.2, "c": busy}[name]
        bandit.learn(outcome(name, 0.4 + 0.5 * good))
    assert bandit.choose(state(busy=0.0), 0.0) == "a"
    assert bandit.choose(state(busy=1.0), 0.0) == "c"


def test_mab_learns_nothing_of_a_window_in_which_nothing_ended() -> None:
    bandit = Bandit()
    bandit.reset(SITUATION, 1)
    first = bandit.choose(state(), 0.0)
    bandit.learn(WindowOutcome(first, 0, 0, 0))
    assert bandit.choose(state(), 10.0) == first


@pytest.mark.parametrize("optimism", [-0.1, float("nan"), float("inf")])
def test_mab_refuses_an_optimism_that_is_no_number_from_zero_on(optimism: float) -> None:
    with pytest.raises(TrimtabError, match=r"optimism = .*, must be"):
        Bandit(optimism)


def raises(error: Exception) -> Callable[[], Any]:
    def answer() -> Any:
        raise error

    return answer


@pytest.mark.parametrize(
    ("answer", "seen", "reason"),
    [
        (lambda: "z", state(), "unknown policy"),
        (lambda: None, state(), "unknown policy"),
        (lambda: "a", state(value=float("nan")), "not-a-number in the state"),
        (raises(ZeroDivisionError()), state(), "ZeroDivisionError in the selector"),
        (raises(FloatingPointError()), state(), "FloatingPointError in the selector"),
    ],
)
def test_the_guard_answers_with_the_fallback_and_counts(answer: Any, seen: State, reason: str) -> None:
    guard = SelectGuard(Answers(answer), SITUATION)
    assert [guard.choose(seen, 0.0), guard.choose(seen, 10.0)] == ["b", "b"]
    assert guard.events == {reason: 2}


def test_the_guard_lets_a_good_answer_pass_and_passes_on_what_came_of_it() -> None:
    selector = Answers(lambda: "c")
    guard = SelectGuard(selector, SITUATION)
    assert guard.choose(state(), 0.0) == "c"
    guard.learn(outcome("c", 0.1))
    assert selector.learned == [outcome("c", 0.1)]
    assert not guard.events


EXPECTED = Expectation((50.0, 150.0), (0.9, 0.7), tolerance=0.05)


def test_the_expectation_is_a_line_between_what_was_measured() -> None:
    assert EXPECTED.success(100.0) == pytest.approx(0.8)
    assert EXPECTED.covers(50.0)
    assert not EXPECTED.covers(150.1)


def test_the_guard_stands_in_under_a_load_that_training_never_saw() -> None:
    guard = SelectGuard(Answers(lambda: "c", EXPECTED), SITUATION)
    assert [guard.choose(state(demand), 0.0) for demand in (100.0, 151.0, 49.0)] == ["c", "b", "b"]
    assert guard.events == {"load outside of what it was trained on": 2}


def test_the_guard_suspends_a_selector_that_is_worse_than_the_fallback_and_tries_it_again() -> None:
    guard = SelectGuard(Answers(lambda: "c", EXPECTED), SITUATION)
    taken = []
    for window in range(70):
        taken.append(guard.choose(state(100.0), 10.0 * window))
        # 0.8 is expected, 0.05 tolerated
        guard.learn(outcome(taken[-1], 0.7 if taken[-1] == "c" else 0.8))
    # for twelve windows, then for twice as long
    assert taken == ["c"] * 12 + ["b"] * 12 + ["c"] * 12 + ["b"] * 24 + ["c"] * 10
    assert guard.events == {"worse than the fallback is expected to be": 2}


def test_the_guard_tolerates_a_little_less_than_expected() -> None:
    guard = SelectGuard(Answers(lambda: "c", EXPECTED), SITUATION)
    for window in range(40):
        assert guard.choose(state(100.0), 10.0 * window) == "c"
        guard.learn(outcome("c", 0.76))
    assert not guard.events


@pytest.mark.parametrize(
    ("name", "decision", "answer"),
    [
        ("aset", "route", ("select", "aset")),
        ("mab", "route", ("select", "mab")),
        ("clairvoyant", "route", ("select", "clairvoyant")),
        ("random", "assign", ("assign", "random")),
        ("random", "route", ("route", "random")),
        ("select/random", "route", ("select", "random")),
        ("route/closest", "place", ("route", "closest")),
        ("closest", "route", ("route", "closest")),
    ],
)
def test_a_selector_needs_its_decision_only_where_another_has_its_name(
    name: str, decision: str, answer: tuple[str, str]
) -> None:
    assert registry.who(name, decision) == answer


def test_selectors_are_listed_as_they_are_named_and_oracles_apart() -> None:
    assert [registry.plain(name) for name in ("mab", "random", "round-robin")] == [
        "mab", "select/random", "select/round-robin",
    ]  # fmt: skip
    assert registry.oracles("route") == ["best-static", "clairvoyant"]
    assert registry.oracles("assign") == ["best-static", "clairvoyant", "rollout"]
    assert not set(registry.oracles("assign")) & set(registry.names("select"))
