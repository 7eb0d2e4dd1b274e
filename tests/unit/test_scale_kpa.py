"""KPA against worked examples of the published algorithm."""

from __future__ import annotations

import pytest
from scale_builders import seen

from trimtab.errors import TrimtabError
from trimtab.policies.scale.kpa import Kpa, KpaState

TEN = {"concurrency": 10, "window": 2.0}
"""Target 10 x 70 % = 7 in flight an instance."""


def run(policy, loads, ready, state=None, start=0.0):
    """One tick of 2 s a load, with a fixed number of ready instances; all answers and the last state."""
    answers = []
    for tick, load in enumerate(loads):
        answer, state = policy.decide(seen(inflight=load, ready=ready, **TEN), state, start + 2.0 * (tick + 1))
        answers.append(answer.instances)
    return answers, state


@pytest.mark.parametrize(
    ("concurrency", "total", "expected"), [(10, None, 7.0), (1, None, 0.7), (1, 0.01, 0.01), (10, 4.0, 2.8)]
)
def test_target_is_seventy_per_cent_of_total_but_never_below_a_hundredth(concurrency, total, expected):
    assert Kpa(total=total).target(seen(concurrency=concurrency)) == pytest.approx(expected)


def test_stable_window_is_averaged_over_the_time_that_was_seen():
    # 5 in flight for 20 s, 9 for 20 s: average 7, ceil(7 / 7) = 1. One more tick of 30:
    # stable (5 x 20 + 9 x 20 + 30 x 2) / 42 = 8.1, ceil(1.16) = 2;
    # panic (9 + 9 + 30) / 3 = 16, ceil(2.3) = 3 over 2 ready = 1.5: no panic.
    answers, state = run(Kpa(), [5.0] * 10 + [9.0] * 10, ready=2, state=KpaState())
    assert answers[-1] == 1
    answers, state = run(Kpa(), [30.0], ready=2, state=state, start=40.0)
    assert answers == [2]
    assert state.panic_since is None


def test_panic_begins_at_twice_the_ready_instances():
    # 28 / 7 = 4 instances over 2 ready = 2.0: panic. 27 / 7 = 3.86, also 4: panic. 21 / 7 = 3: 1.5, none.
    for load, panics in ((28.0, True), (27.0, True), (21.0, False)):
        _, state = Kpa().decide(seen(inflight=load, ready=2, **TEN), KpaState(), 2.0)
        assert (state.panic_since is not None) == panics


def test_never_down_in_panic_and_stable_one_window_after_the_last_excess():
    policy = Kpa()
    answers, state = run(policy, [70.0], ready=1)  # 10 wanted over 1: panic at 2 s
    assert answers == [10]
    # 4 s: panic average (70 + 0) / 2 = 35, ceil(5) over 10 ready: not over. Zero load from here on.
    answers, state = run(policy, [0.0] * 30, ready=10, state=state, start=2.0)
    assert answers == [10] * 30  # until 62 s, exactly one stable window: not yet before now
    answers, state = run(policy, [0.0], ready=10, state=state, start=62.0)
    assert state.panic_since is None
    assert answers == [5]  # stable wants 0, at most half of 10 goes


def test_panic_is_extended_while_it_is_over_and_only_grows():
    policy = Kpa()
    _, state = run(policy, [70.0, 140.0, 140.0], ready=1)
    assert state.panic_since == 6.0
    # Panic window of 6 s: (70 + 140 + 140) / 3 = 116.7 -> ceil(16.67) = 17.
    assert state.panic_peak == 17


def test_a_new_autoscaler_over_several_pods_does_not_shrink_them():
    answer, state = Kpa().decide(seen(inflight=0.0, ready=8, **TEN), None, 2.0)
    assert (answer.instances, state.panic_since) == (8, 2.0)
    answer, state = Kpa().decide(seen(inflight=5.0, ready=1, **TEN), None, 2.0)
    assert (answer.instances, state.panic_since) == (1, None)


def test_rates():
    # The example beside the published formula: rate 1.1, 2 ready, 3 in flight, target 1: ceil(2.2) = 3 pods,
    # where 2.2 cut to 2 would never grow.
    policy = Kpa(max_scale_up_rate=1.1, total=10.0, utilisation=0.1)
    assert policy.decide(seen(inflight=3.0, ready=2, **TEN), KpaState(), 2.0)[0].instances == 3
    # Scale up: 1.1 x 2 ready = 2.2 -> at most 3 although 4 are wanted (28 / 7).
    policy = Kpa(max_scale_up_rate=1.1)
    assert policy.decide(seen(inflight=28.0, ready=2, **TEN), KpaState(), 2.0)[0].instances == 3
    # Scale down: floor(9 / 2) = 4, although 1 is wanted.
    assert Kpa().decide(seen(inflight=1.0, ready=9, **TEN), KpaState(), 2.0)[0].instances == 4


def test_to_zero_after_the_stable_window_and_the_grace_period():
    answers, _ = run(Kpa(), [0.0] * 60, ready=1)
    # The first tick is at 2 s: active for 60 s at 62 s (the 31st), zero 30 s later at 92 s (the 46th).
    assert answers[:45] == [1] * 45
    assert answers[45] == 0


def test_idle_means_a_whole_stable_window_without_load():
    # Load until 100 s; it leaves the stable window at 160 s (tick 80); then the grace of 30 s: 190 s (95).
    answers, _ = run(Kpa(), [3.0] * 50 + [0.0] * 50, ready=1)
    assert answers[:94] == [1] * 94
    assert answers[94] == 0


def test_load_during_the_grace_period_keeps_the_instance():
    _, state = run(Kpa(), [0.0] * 40, ready=1)
    assert state.inactive_since == 62.0
    answers, state = run(Kpa(), [1.0], ready=1, state=state, start=80.0)
    assert (answers, state.inactive_since) == ([1], None)


def test_from_zero():
    policy = Kpa(activation_scale=3)
    answer, state = policy.decide(seen(inflight=1.0, ready=0, **TEN), KpaState(), 200.0)
    assert (answer.instances, state.active_since) == (3, 200.0)
    # Idle at zero stays at zero, and activation-scale lifts nothing then.
    answer, _ = policy.decide(seen(inflight=0.0, ready=0, **TEN), KpaState(), 200.0)
    assert answer.instances == 0


def test_bounds():
    assert Kpa(min_scale=2).decide(seen(ready=1, **TEN), KpaState(), 2.0)[0].instances == 2
    policy = Kpa(max_scale=3)
    assert policy.decide(seen(inflight=70.0, ready=1, **TEN), KpaState(), 2.0)[0].instances == 3


def test_scale_down_delay_holds_the_maximum():
    policy = Kpa(scale_down_delay=10.0)
    # 3 wanted (21 / 7) at 2 s over 2 ready. Then 0: stable average 21, 10.5, 7, 5.25, 4.2 -> 3, 2, 1, 1, 1.
    answers, _ = run(policy, [21.0, 0.0, 0.0, 0.0, 0.0, 0.0], ready=2, state=KpaState())
    assert answers == [3, 3, 3, 3, 3, 2]  # at 12 s the 3 of 2 s is 10 s old


def test_no_data_holds():
    answer, _ = Kpa().decide(seen(window=0.0), None, 0.0)
    assert not answer.valid
    # Nothing for longer than the panic window: what is known is too old to act on.
    _, state = run(Kpa(), [5.0], ready=1)
    answer, _ = Kpa().decide(seen(window=0.0), state, 10.0)
    assert not answer.valid


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"utilisation": 1.5}, "utilisation = 1.5, must be above 0 and at most 1"),
        ({"stable_window": 5}, "stable_window = 5, must be between 6 and 3600"),
        ({"panic_threshold": 1.0}, "panic_threshold = 1.0, must be between 1.1 and 10"),
        ({"max_scale_down_rate": 1}, "max_scale_down_rate = 1, must be above 1"),
        ({"min_scale": 5, "max_scale": 3}, "max_scale = 3, must be 0 or at least min_scale = 5"),
        ({"total": float("nan")}, "total = nan, must be a finite number"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(TrimtabError, match=message):
        Kpa(**parameters)
