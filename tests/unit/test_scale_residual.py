"""``residual``: its floor, its bounds, the margin that follows the violations, and how often it changes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.scale_builders import seen

from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.scale.contract import HOLD, FunctionMetrics
from trimtab.policies.scale.residual import FEATURES, Residual
from trimtab.policies.scale.staffing import COUNT, CPU, MARGIN
from trimtab.policies.trained import Description, Trained

PLAIN = {
    "floor": 0.0, "power": 0.5, "volatility": 0.0, "rise": 0.0, "trend": 0.0, "backlog": 0.0, "constant": 0.0,
    "fast": 2.5, "slow": 10.0, "band": 0.0, "down_delay": 30.0, "target": 2.0, "target_slope": 0.5, "prior": 20.0,
    "gain": 1.0, "spare": 1.0, "patience": 20.0, "push": 1.0, "pace": 1.0,
}  # fmt: skip
"""Square-root staffing: no learned correction."""


def policy(*, target: float = 0.01, boost: float = 1.0, **weights: float) -> Residual:
    return Residual(tuple({**PLAIN, **weights}[name] for name in FEATURES), target=target, boost=boost)


def drive(chosen: Residual, metrics: Callable[[int], FunctionMetrics], ticks: int) -> list[np.ndarray]:
    """Memories after each of ``ticks`` seconds."""
    found, state = [], None
    for tick in range(1, ticks + 1):
        _, state = chosen.decide(metrics(tick), state, float(tick))
        found.append(state)
    return found


def steady(rate: int, **given: object) -> FunctionMetrics:
    return seen(window=1.0, arrivals=rate, completions=rate, **given)


def test_without_corrections_it_is_square_root_staffing() -> None:
    # 160 requests a second of 0.1 s are 16 Erlang; nothing is seen yet, so the margin is the learned 2 at 1 %:
    # 16 + 2 x 4 = 24
    answer, state = policy().decide(steady(160), None, 1.0)
    assert answer.instances == 24
    assert state is not None
    assert state[MARGIN] == pytest.approx(2.0, abs=0.1)


def test_the_first_margin_grows_as_the_target_falls() -> None:
    # slope 0.5 per unit of the logarithm, from 2 at 1 %
    _, state = policy(target=0.001).decide(steady(160), None, 1.0)
    assert state is not None
    assert state[MARGIN] == pytest.approx(2.0 + 0.5 * math.log(10), abs=0.1)


def test_the_margin_is_what_was_needed() -> None:
    """The load jumps by 10 Erlang in one second of twenty, from 20: a margin of 10 / sqrt(20) = 2.2 covers it."""
    memories = drive(
        policy(target=0.01, fast=0.1, slow=0.1, prior=1.0, gain=0.0, spare=0.0, push=0.0),
        lambda tick: steady(300 if tick % 20 == 0 else 200, violations=3),
        1800,
    )
    assert memories[-1][MARGIN] == pytest.approx(10 / math.sqrt(20), abs=0.6)


def test_violations_above_the_target_raise_the_margin_and_none_lower_it() -> None:
    many = drive(policy(), lambda _: steady(1000, violations=100), 600)
    none = drive(policy(), lambda _: steady(1000), 600)
    right = drive(policy(), lambda _: steady(1000, violations=10), 600)
    assert none[-1][MARGIN] < right[-1][MARGIN] < many[-1][MARGIN]
    assert many[-1][COUNT] > none[-1][COUNT]


def test_quiet_lowers_the_margin_only_by_what_it_proves() -> None:
    # no violations at all: with spare 0 the aim stays where it is, with spare 1 it rises and the margin falls
    held = drive(policy(prior=10_000.0, spare=0.0, push=0.0), lambda _: steady(1000), 300)
    lowered = drive(policy(prior=10_000.0, spare=1.0, push=0.0), lambda _: steady(1000), 300)
    assert held[-1][MARGIN] == pytest.approx(2.0, abs=0.1)
    assert lowered[-1][MARGIN] < 1.5


def test_the_margin_moves_at_its_pace() -> None:
    quick = drive(policy(pace=1.0), lambda _: steady(1000, violations=100), 40)
    slow = drive(policy(pace=1000.0), lambda _: steady(1000, violations=100), 40)
    assert quick[0][MARGIN] == slow[0][MARGIN]
    assert quick[-1][MARGIN] - quick[0][MARGIN] > 10 * (slow[-1][MARGIN] - slow[0][MARGIN]) > 0


def test_the_backlog_of_a_start_up_is_ordered_at_once() -> None:
    # 40 Erlang on 22 cores for 10 s more: 180 core-seconds will wait, a tenth of them is 18 instances more
    plain = drive(policy(fast=0.1, slow=0.1), lambda tick: steady(400 if tick > 5 else 200, ready=22), 6)
    ahead = drive(policy(fast=0.1, slow=0.1, backlog=0.1), lambda tick: steady(400 if tick > 5 else 200, ready=22), 6)
    assert ahead[-1][COUNT] - plain[-1][COUNT] == pytest.approx(18, abs=1)
    assert ahead[4][COUNT] == plain[4][COUNT]


@pytest.mark.parametrize(("power", "more"), [(0.0, 4.0), (0.5, 8.0), (1.0, 16.0)])
def test_what_a_margin_is_worth_grows_with_a_power_of_the_load(power: float, more: float) -> None:
    # usually 16 Erlang, where a unit is worth 4; at 64 it is worth 4, 8 or 16
    memories = drive(
        policy(power=power, fast=0.1, slow=0.1, prior=1e9, gain=0.0, spare=0.0, push=0.0),
        lambda tick: steady(640 if tick > 3000 else 160),
        3001,
    )
    assert memories[-1][COUNT] == pytest.approx(64 + memories[-1][MARGIN] * more, abs=1.2)


@pytest.mark.parametrize("target", [0.001, 0.003])
def test_a_poisson_load_is_kept_at_the_target(target: float) -> None:
    """200 requests a second of 0.1 s: what comes in a second above what the instances can serve in it is late."""
    random = np.random.default_rng(3)
    chosen, state, late, total = policy(target=target, fast=1.0, down_delay=8.0, prior=60.0), None, 0, 0
    count = 30.0
    for tick in range(1, 10_801):
        arrivals = int(random.poisson(200))
        violations = max(0, arrivals - int(10 * count))
        _, state = chosen.decide(steady(arrivals, violations=violations), state, float(tick))
        assert state is not None
        count = float(state[COUNT])
        late, total = late + violations, total + arrivals
    assert target / 2 < late / total < target * 2


@given(
    rate=st.integers(0, 2000),
    queued=st.integers(0, 5000),
    violations=st.integers(0, 500),
    target=st.sampled_from([0.0001, 0.01, 0.5, 1.0]),
)
@settings(max_examples=40)
def test_never_below_the_offered_load(rate: int, queued: int, violations: int, target: float) -> None:
    chosen = policy(target=target, gain=4.0, target_slope=3.0, trend=-0.5, constant=-1.0)
    state = None
    for tick in range(1, 6):
        answer, state = chosen.decide(steady(rate, queued=queued, violations=violations), state, float(tick))
        assert answer.valid
        assert answer.instances is not None
        assert answer.instances >= max(1, math.ceil(rate * 0.1 - 1e-6))
        assert answer.cpu is None


@given(rates=st.lists(st.integers(0, 1500), min_size=30, max_size=120), every=st.integers(1, 20))
@settings(max_examples=25)
def test_at_most_200_changes_an_hour(rates: list[int], every: int) -> None:
    memories = drive(policy(down_delay=8.0), lambda tick: steady(rates[tick // every % len(rates)]), 4000)
    counts = np.array([memory[COUNT] for memory in memories])
    changed = np.flatnonzero(np.diff(counts) != 0)
    for first in changed:
        assert np.count_nonzero((changed >= first) & (changed < first + 3600)) <= 200


def test_it_goes_up_at_once_and_down_when_that_has_lasted() -> None:
    memories = drive(policy(fast=1.0), lambda tick: steady(100 if 20 <= tick < 40 else 40), 120)
    counts = [int(memory[COUNT]) for memory in memories]
    assert counts[22] > counts[18]
    assert counts[45] == max(counts)
    assert counts[-1] < max(counts)


def test_a_boost_takes_what_comes_suddenly() -> None:
    memories = drive(policy(boost=2.0), lambda tick: steady(400 if tick > 60 else 200, ready=22), 70)
    assert memories[50][CPU] < memories[66][CPU] <= 2.0
    assert memories[66][CPU] >= 1.7  # 40 cores of work on 22 instances
    answer, _ = policy(boost=2.0).decide(steady(400, ready=22), memories[66], 67.5)
    assert answer.cpu == pytest.approx(2.0, abs=0.35)
    # instances still cover the load that stays
    assert memories[-1][COUNT] >= 39


def test_without_a_boost_the_size_is_left_alone() -> None:
    answer, _ = policy().decide(steady(400, ready=2), None, 1.0)
    assert answer.cpu is None


def test_no_data_is_not_zero() -> None:
    assert policy().decide(seen(window=0.0), None, 0.0) == (HOLD, None)
    assert policy().decide(steady(10, service_mean=None), None, 0.0) == (HOLD, None)


def test_pure() -> None:
    _, state = policy().decide(steady(100), None, 1.0)
    assert state is not None
    before = state.copy()
    first, after = policy().decide(steady(300), state, 2.0)
    again, same = policy().decide(steady(300), state, 2.0)
    assert np.array_equal(state, before)
    assert first == again
    assert after is not None
    assert same is not None
    assert np.array_equal(after, same)


def trained(values: list[float], features: tuple[str, ...] = FEATURES) -> Trained:
    about = Description(decision="scale", policy="residual", recipe="best", features=features)
    return Trained(about, {"weights": np.array(values)})


def test_a_trained_folder() -> None:
    weights = [PLAIN[name] for name in FEATURES]
    found = registry.built(trained(weights), "scale", {"target": 0.05, "boost": 2})
    assert (found.target, found.boost, found.weights) == (0.05, 2, tuple(weights))


@pytest.mark.parametrize(
    ("found", "parameters", "line"),
    [
        (trained([1.0]), {}, r"shape \(1,\), must be \(19,\)"),
        (trained([0.0] * 19), {}, "weight 'fast' = 0, must be above 0"),
        (trained([1.0] * 19, ("speed", *FEATURES[1:])), {}, "feature = 'speed', must be one of"),
        (trained([1.0] * 19), {"margin": 1}, "parameter = 'margin', must be one of: target, boost"),
        (trained([1.0] * 19), {"target": 0}, "target = 0, must be above 0 and at most 1"),
        (trained([1.0] * 19), {"boost": 0.5}, "boost = 0.5, must be between 1 and 64"),
    ],
)
def test_a_bad_folder_is_refused(found: Trained, parameters: dict[str, object], line: str) -> None:
    with pytest.raises(TrimtabError, match=line):
        registry.built(found, "scale", parameters)
