"""Selecting on real calls: what a window says, by hand, and that a selector learns from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from trimtab.errors import TrimtabError
from trimtab.live.audit import Audit
from trimtab.live.function import Deployed, FunctionSpec, figures_of
from trimtab.live.selecting import CANDIDATES, Selecting, selection_of
from trimtab.live.servers import Server
from trimtab.live.windows import CallWindows
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario

SERVERS = [Server(0, "small", 0.5, 2.0**29), Server(1, "large", 1.5, 2.0**29)]


def deployed(name: str, number: int) -> Deployed:
    spec = FunctionSpec(code="def main(args): return {}")
    return Deployed(name, spec, figures_of(name, spec, None), 0, number)


def count(function: Deployed, arrivals: int, completions: int, failures: int = 0, violations: int = 0) -> None:
    counters = function.counters
    counters.arrivals += arrivals
    counters.completions += completions
    counters.failures += failures
    counters.violations += violations


def test_a_window_by_hand() -> None:
    first = deployed("first", 0)
    count(first, 100, 90, 10, 50)  # before the window: says nothing
    functions = {"first": first}
    windows = CallWindows(functions, SERVERS, now=10.0)
    first.inflight = 4
    first.queue.append(cast(Any, "a call"))
    SERVERS[1].queue.append(cast(Any, "another"))
    windows.sample(11.0)
    first.queue.clear()
    SERVERS[1].queue.clear()
    first.inflight = 2
    functions["second"] = second = deployed("second", 1)
    count(first, 10, completions=6, failures=1, violations=2)  # 5 in time, 1 late, 1 failed
    count(second, 3, completions=3)  # without a deadline nothing is late
    windows.sample(14.0)
    state, outcome = windows.close("hashing", 14.0)
    assert (outcome.policy, outcome.succeeded, outcome.failed, outcome.ended) == ("hashing", 8, 2, 10)
    # in flight (4 × 1 s + 2 × 3 s) / 4 s on 2 cores; queued 2 × 1 s / 4 s on 2 cores; 8 of 10
    assert state.context.tolist() == [1.0, 1.25, 0.25, 0.8]
    assert state.features.tolist() == [1.25, 0.25, 0.8]
    assert state.demand == 13 / 4
    assert state.policy == "hashing"


def test_an_empty_window_and_one_after_a_new_version() -> None:
    functions = {"first": deployed("first", 0)}
    count(functions["first"], 5, 5)
    windows = CallWindows(functions, SERVERS, now=0.0)
    state, outcome = windows.close("hashing", 0.0)
    assert state.context.tolist() == [1.0, 0.0, 0.0, 1.0]
    assert outcome.ended == 0
    functions["first"] = deployed("first", 1)
    count(functions["first"], 2, 2)
    _, outcome = windows.close("hashing", 1.0)
    assert (outcome.succeeded, outcome.failed) == (2, 0)


@dataclass
class FakePlatform:
    """What the loop asks of a platform."""

    scenario: Scenario
    now: float = 0.0
    used: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.functions = {"first": deployed("first", 0)}
        self.servers, self.audit = SERVERS, Audit()
        seat = SimpleNamespace(policy=SimpleNamespace(name="hashing"))
        self.placer = SimpleNamespace(seat=seat, seat_of=lambda name: seat)

    def clock(self) -> float:
        return self.now

    def switch_place(self, name: str) -> None:
        self.used.append(name)


def platform_of(*changes: str) -> tuple[FakePlatform, Selecting]:
    platform = FakePlatform(load_scenario("live-light", changes))
    return platform, Selecting(cast(Any, platform))


def test_the_bandit_leaves_a_policy_that_fails_and_stays_with_one_that_does_not() -> None:
    platform, selecting = platform_of(
        "control.window=2", "parameters.select.candidates=[hashing, round-robin]", "parameters.mab.optimism=0.5"
    )
    selecting.switch("mab")
    for window, completions in ((1, 0), (2, 10), (3, 10)):
        count(platform.functions["first"], 10, completions, 10 - completions, 10 - completions)
        platform.now = 2.0 * window - 0.5
        selecting.tick()
        platform.now = 2.0 * window
        selecting.tick()
    found = platform.audit.after(0, 10)
    assert [each["chosen"] for each in found] == ["hashing", "round-robin", "round-robin", "round-robin"]
    assert {(each["kind"], each["policy"], each["guard"]) for each in found} == {("select", "mab", None)}
    assert platform.used == ["round-robin"]  # one switch: hashing was in force, and nothing is done twice


def test_nobody_chooses_after_it_is_turned_off() -> None:
    platform, selecting = platform_of()
    selecting.switch("round-robin")
    selecting.switch(None)
    platform.now = 100.0
    selecting.tick()
    assert selecting.name is None
    assert len(platform.audit.after(0, 10)) == 1


def test_candidates_and_fallback_are_the_usual_ones_or_the_scenarios() -> None:
    _, situation = selection_of(load_scenario("live-light"), "mab")
    assert (situation.candidates, situation.fallback, situation.window) == (CANDIDATES, "hashing", 10.0)
    changes = ("parameters.select.candidates=[greedy, warm-first]", "parameters.select.fallback=warm-first")
    _, situation = selection_of(load_scenario("live-light", changes), "random")
    assert (situation.candidates, situation.fallback) == (("greedy", "warm-first"), "warm-first")


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        ("randm", (), "select policy = 'randm', must be one of: mab, random, round-robin; did you mean 'random'?"),
        ("aset", (), "select policy = 'aset' cannot choose among place policies, must be one of: mab, random"),
        ("clairvoyant", (), "cannot choose among place policies"),
        ("mab", ("parameters.select.fallback=hasing",), "did you mean 'hashing'?"),
        ("mab", ("parameters.select.candidates=[1, 2]",), "must be a list of different policies"),
        ("mab", ("parameters.select.candidates=hashing",), "must be a list of different policies"),
        ("mab", ("parameters.mab.optimism=-1",), "optimism"),
    ],
)
def test_what_cannot_select_is_one_clear_line(name: str, changes: tuple[str, ...], told: str) -> None:
    with pytest.raises(TrimtabError) as refused:
        selection_of(load_scenario("live-light", changes), name)
    assert told in str(refused.value)
