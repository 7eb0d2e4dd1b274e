"""The VPA recommender against numbers worked out from its published formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scale_builders import seen

from trimtab.errors import TrimtabError
from trimtab.policies.scale.histogram import CPU_BUCKETS, MEMORY_BUCKETS, DecayingHistogram
from trimtab.policies.scale.vpa import DAY, Vpa, confidence, multiplier


def end_of(bucket, first):
    """first x (1.05^(bucket + 1) - 1) / 0.05, the published formula."""
    return first * (1.05 ** (bucket + 1) - 1) / 0.05


def empty(half_life=DAY):
    return DecayingHistogram.empty(CPU_BUCKETS, half_life, 0.0)


def test_bucket_boundaries():
    # 0, 0.01, 0.01 + 0.0105, 0.0205 + 0.011025, ...
    np.testing.assert_allclose(CPU_BUCKETS.starts[:4], [0.0, 0.01, 0.0205, 0.031525])
    np.testing.assert_allclose(MEMORY_BUCKETS.starts[:3], [0.0, 1e7, 2.05e7])
    # 1000 x 0.05 / 0.01 + 1 = 5001; log 5001 / log 1.05 = 174.6, so 175 + 1 buckets reach 1000 cores.
    assert len(CPU_BUCKETS.starts) == len(MEMORY_BUCKETS.starts) == 176
    assert CPU_BUCKETS.starts[-1] > 1000.0


@pytest.mark.parametrize(
    ("value", "bucket"), [(0.0, 0), (0.0099, 0), (0.01, 1), (0.0204, 1), (0.0205001, 2), (5000.0, 175)]
)
def test_find_bucket(value, bucket):
    assert CPU_BUCKETS.find(value) == bucket


def test_percentile_is_the_end_of_its_bucket():
    histogram = empty()
    for value in (0.005,) * 9 + (0.5,):
        histogram = histogram.add(value, 0.1, 0.0)
    # 9 of 10 are in bucket 0 (end 0.01); 0.5 is in bucket 25: 0.01 (1.05^25 - 1) / 0.05 = 0.477 <= 0.5.
    assert histogram.percentile(0.5) == pytest.approx(0.01)
    assert histogram.percentile(0.95) == pytest.approx(end_of(25, 0.01))
    assert CPU_BUCKETS.find(0.5) == 25


def test_the_last_bucket_answers_with_its_start():
    histogram = empty().add(1e6, 1.0, 0.0)
    assert histogram.percentile(0.9) == CPU_BUCKETS.starts[-1]


def test_a_sample_counts_half_after_a_half_life():
    # One old sample of 0.5; one new of 0.005 a half-life later weighs double: 2/3 of all are small.
    histogram = empty().add(0.5, 1.0, 0.0).add(0.005, 1.0, DAY)
    weights = histogram.weights
    assert weights[0] / weights[25] == pytest.approx(2.0)
    assert histogram.percentile(0.66) == pytest.approx(0.01)
    assert histogram.percentile(0.67) == pytest.approx(end_of(25, 0.01))


def test_weights_are_scaled_back_after_a_hundred_half_lives():
    histogram = empty(half_life=1.0).add(0.5, 1.0, 0.0).add(0.005, 1.0, 99.0).add(0.005, 1.0, 101.0)
    assert histogram.reference == 101.0
    # The sample of 99 s: 2^99 / 2^101 = 1/4, and the new one 1; that of 0 s is gone: 2^-101.
    assert histogram.weights[0] == pytest.approx(1.25)
    assert histogram.percentile(1.0) == pytest.approx(0.01)


def test_subtract_undoes_add_and_leaves_no_crumbs():
    histogram = empty().add(0.3, 1.0, 5.0).add(0.7, 1.0, 9.0).subtract(0.3, 1.0, 5.0)
    assert np.count_nonzero(histogram.weights) == 1
    assert histogram.percentile(0.1) == CPU_BUCKETS.end(CPU_BUCKETS.find(0.7))


def test_empty_histogram_has_no_percentile():
    assert empty().percentile(0.9) is None


def test_target_is_percentile_ninety_with_fifteen_per_cent_margin():
    metrics = seen(ready=4, cpu_cores=2.0, memory_bytes=4 * 600e6)
    answer, state = Vpa().decide(metrics, None, 60.0)
    # 0.5 core an instance: end of bucket 25 = 0.01 (1.05^26 - 1) / 0.05 = 0.5111; x 1.15 = 0.5878.
    assert answer.cpu == pytest.approx(1.15 * end_of(25, 0.01))
    # 600 MB: 6e8 x 0.05 / 1e7 + 1 = 4; log 4 / log 1.05 = 28.4: bucket 28, end 6.2323e8, x 1.15.
    assert answer.memory == pytest.approx(1.15 * end_of(28, 1e7))
    assert answer.instances is None
    assert state.samples == 4


def test_minimum():
    answer, _ = Vpa().decide(seen(cpu_cores=0.0, memory_bytes=1e6), None, 60.0)
    assert (answer.cpu, answer.memory) == (0.025, 250e6)


def test_memory_counts_one_peak_a_day():
    policy, state = Vpa(), None
    for minute, memory in enumerate((400e6, 900e6, 300e6, 500e6)):
        _, state = policy.decide(seen(memory_bytes=memory), state, 60.0 * minute)
    assert np.flatnonzero(state.memory.weights).tolist() == [MEMORY_BUCKETS.find(900e6)]
    _, state = policy.decide(seen(memory_bytes=300e6), state, DAY)
    filled = np.flatnonzero(state.memory.weights).tolist()
    assert filled == [MEMORY_BUCKETS.find(300e6), MEMORY_BUCKETS.find(900e6)]
    # Samples count at the end of their interval, one half-life apart.
    assert state.memory.weights[filled[0]] == pytest.approx(2 * state.memory.weights[filled[1]])


def test_bounds_widen_with_little_evidence():
    policy, state = Vpa(), None
    for minute in range(721):
        _, state = policy.decide(seen(cpu_cores=0.5, memory_bytes=600e6), state, 60.0 * minute)
    now = 720 * 60.0  # half a day, 721 samples of 1440: min(0.5, 0.5007) = 0.5
    assert confidence(state, now) == pytest.approx(0.5)
    recommendation = policy.recommend(state, now)
    base = 1.15 * end_of(25, 0.01)
    assert recommendation.target.cpu == pytest.approx(base)
    assert recommendation.upper.cpu == pytest.approx(base * 3.0)  # 1 + 1 / 0.5
    assert recommendation.lower.cpu == pytest.approx(base / 1.002**2)  # (1 + 0.001 / 0.5)^-2


def test_no_evidence_bounds_nothing():
    assert multiplier(1.0, 1.0, 0.0) == float("inf")
    assert multiplier(0.001, -2.0, 0.0) == 0.0


def test_no_data_holds_and_later_silence_keeps_the_recommendation():
    answer, state = Vpa().decide(seen(ready=0), None, 0.0)
    assert not answer.valid
    answer, state = Vpa().decide(seen(cpu_cores=0.5), state, 60.0)
    again, after = Vpa().decide(seen(ready=0), state, 120.0)
    assert after is state
    assert again.cpu == answer.cpu


def test_wrong_parameters():
    with pytest.raises(TrimtabError, match="target_percentile = 90, must be above 0 and at most 1"):
        Vpa(target_percentile=90)
    with pytest.raises(TrimtabError, match="half_life = 0, must be above 0"):
        Vpa(half_life=0)
