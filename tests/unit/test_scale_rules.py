"""Fixed, the slides' thresholds, square-root staffing, Holt, and the windows that they share."""

from __future__ import annotations

import pytest
from scale_builders import seen

from trimtab.errors import TrimtabError
from trimtab.policies.scale.fixed import Fixed
from trimtab.policies.scale.holt import Holt, HoltState, forecast
from trimtab.policies.scale.square_root import SquareRoot
from trimtab.policies.scale.threshold_cpu import ThresholdCpu
from trimtab.policies.scale.threshold_memory import ThresholdMemory
from trimtab.policies.scale.window import Sample, add_sample, largest_recent, time_average

MEBIBYTE = 2**20


def test_fixed():
    assert Fixed(instances=7).decide(seen(ready=3), None, 0.0)[0].instances == 7
    assert Fixed(instances=7).decide(seen(window=0.0), None, 0.0)[0].valid


@pytest.mark.parametrize(
    ("ready", "starting", "cores", "expected"),
    [
        (4, 0, 1.04, 5),  # 260m > 250m: up
        (4, 0, 1.0, 3),  # 250m is not over 250m: down, no dead band
        (4, 2, 1.04, 7),  # those on their way count as containers, not as users of CPU
        (1, 0, 0.0, 1),  # never below 1
        (0, 0, 0.0, 1),
    ],
)
def test_threshold_cpu(ready, starting, cores, expected):
    metrics = seen(ready=ready, starting=starting, cpu_cores=cores)
    assert ThresholdCpu().decide(metrics, None, 0.0)[0].instances == expected


@pytest.mark.parametrize(("mebibytes", "expected"), [(257, 4), (256, 2), (10, 2)])
def test_threshold_memory(mebibytes, expected):
    metrics = seen(ready=3, memory_bytes=3 * mebibytes * MEBIBYTE)
    assert ThresholdMemory().decide(metrics, None, 0.0)[0].instances == expected


@pytest.mark.parametrize("policy", [ThresholdCpu(), ThresholdMemory(), SquareRoot(), Holt()])
def test_no_data_holds(policy):
    nothing = seen(ready=0, starting=1, window=0.0, service_mean=None)
    assert not policy.decide(nothing, None, 0.0)[0].valid


@pytest.mark.parametrize(
    ("c", "arrivals", "queued", "concurrency", "expected"),
    [
        (2.0, 160, 0, 1, 24),  # R = 160 x 0.1 = 16: 16 + 2 x 4 = 24
        (1.5, 160, 30, 1, 24),  # 16 + 6 + 0.05 x 30 = 23.5
        (0.0, 30, 0, 1, 3),  # 30 x 0.1 = 3.0000000000000004 is three
        (2.0, 160, 0, 10, 3),  # 24 / 10 = 2.4
        (2.0, 0, 0, 1, 1),  # nothing: the minimum
        (2.0, 0, 60, 1, 3),  # only a queue: 0.05 x 60
        (-3.0, 10, 0, 1, 1),  # 1 - 3: never below the minimum
    ],
)
def test_square_root(c, arrivals, queued, concurrency, expected):
    metrics = seen(window=1.0, arrivals=arrivals, queued=queued, concurrency=concurrency)
    assert SquareRoot(c=c).decide(metrics, None, 1.0)[0].instances == expected


def test_square_root_rate_is_over_five_seconds():
    policy, state = SquareRoot(c=0.0, down_delay=0.0), None
    answers = []
    for second, arrivals in enumerate((100, 100, 100, 100, 100, 0, 0, 0, 0, 0, 0), 1):
        answer, state = policy.decide(seen(window=1.0, arrivals=arrivals), state, float(second))
        answers.append(answer.instances)
    # R = 10, then a fifth less every second: 8, 6, 4, 2, 0 (the minimum is 1).
    assert answers == [10, 10, 10, 10, 10, 8, 6, 4, 2, 1, 1]


def test_square_root_takes_a_longer_tick_whole():
    answer, _ = SquareRoot(c=0.0).decide(seen(window=15.0, arrivals=1500), None, 15.0)
    assert answer.instances == 10


def test_square_root_follows_a_fall_after_the_delay():
    policy, state = SquareRoot(c=0.0, rate_window=1.0), None
    answers = {}
    for second in range(1, 40):
        metrics = seen(window=1.0, arrivals=200 if second == 1 else 50)
        answer, state = policy.decide(metrics, state, float(second))
        answers[second] = answer.instances
    assert answers[1] == answers[30] == 20
    assert answers[31] == 5  # the 20 of the first second is 30 s old


def test_holt_by_hand():
    policy = Holt(c=0.0, level_smoothing=0.5, trend_smoothing=0.5, down_delay=0.0)
    answer, state = policy.decide(seen(window=1.0, arrivals=100), None, 1.0)
    assert (state.level, state.trend, answer.instances) == (100.0, 0.0, 10)
    # level = 0.5 x 120 + 0.5 x (100 + 0) = 110; trend = 0.5 x 10 + 0 = 5 a second;
    # at start-up 10 s later: 110 + 50 = 160; x 0.1 s = 16.
    answer, state = policy.decide(seen(window=1.0, arrivals=120), state, 2.0)
    assert (state.level, state.trend, answer.instances) == (110.0, 5.0, 16)
    # level = 0.5 x 120 + 0.5 x (110 + 5) = 117.5; trend = 0.5 x 7.5 + 0.5 x 5 = 6.25; 117.5 + 62.5 = 180
    answer, state = policy.decide(seen(window=1.0, arrivals=120), state, 3.0)
    assert (state.level, state.trend, answer.instances) == (117.5, 6.25, 18)


def test_holt_forecast_is_never_negative():
    assert forecast(HoltState(level=10.0, trend=-5.0, time=0.0), 10.0) == 0.0


def test_holt_ignores_a_repeated_tick():
    policy = Holt()
    _, state = policy.decide(seen(window=1.0, arrivals=100), None, 1.0)
    _, again = policy.decide(seen(window=1.0, arrivals=500), state, 1.0)
    assert (again.level, again.trend) == (state.level, state.trend)


def test_time_average_weighs_by_overlap_and_ignores_what_nobody_saw():
    samples = (Sample(4.0, 2.0, 10.0), Sample(6.0, 2.0, 4.0))
    assert time_average(samples, 6.0, 3.0) == pytest.approx((1 * 10 + 2 * 4) / 3)
    assert time_average(samples, 6.0, 60.0) == pytest.approx(7.0)
    assert time_average(samples, 8.0, 2.0) is None
    assert time_average((), 8.0, 2.0) is None


def test_add_sample_forgets_what_is_too_old():
    samples = (Sample(0.0, 1.0, 1.0), Sample(5.0, 1.0, 2.0))
    assert add_sample(samples, Sample(10.0, 1.0, 3.0), 10.0) == (samples[1], Sample(10.0, 1.0, 3.0))


def test_largest_recent():
    largest, kept = largest_recent(((0.0, 9), (5.0, 7), (8.0, 4)), 5, 10.0, 10.0)
    assert largest == 7
    assert kept == ((5.0, 7), (10.0, 5))  # 9 is too old, 4 can never win again


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Fixed(instances=-1), "instances = -1, must be a whole number of at least 0"),
        (lambda: Fixed(instances=2.5), "instances = 2.5, must be a whole number of at least 0"),
        (lambda: ThresholdCpu(threshold=0), "threshold = 0, must be above 0"),
        (lambda: ThresholdMemory(period=-1), "period = -1, must be above 0"),
        (lambda: SquareRoot(c=float("nan")), "c = nan, must be a finite number"),
        (lambda: SquareRoot(c=True), "c = True, must be a finite number"),
        (lambda: Holt(level_smoothing=1.5), "level_smoothing = 1.5, must be above 0 and at most 1"),
    ],
)
def test_wrong_parameters(build, message):
    with pytest.raises(TrimtabError, match=message):
        build()
