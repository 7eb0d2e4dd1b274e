"""Statistics against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from trimtab.report.statistics import jain, paired_change, slowdowns, t_interval


def test_interval_of_three_values() -> None:
    # mean 2, s = 1, t(0.975, 2) = 4.302653: 2 ± 4.302653 / √3 = 2 ± 2.484138
    low, high = t_interval(np.array([1.0, 2.0, 3.0])) or (0, 0)
    assert (low, high) == pytest.approx((-0.484138, 4.484138), abs=1e-6)


def test_one_value_has_no_interval() -> None:
    assert t_interval(np.array([1.0])) is None


def test_change_is_relative_to_the_mean_of_the_baseline() -> None:
    # baseline 10 and 20 (mean 15), ours 8 and 16: differences -2/15 and -4/15, mean -0.2 = 12/15 - 1
    change = paired_change({1: 8.0, 2: 16.0}, {1: 10.0, 2: 20.0})
    assert change is not None
    assert change.change == pytest.approx(-0.2)
    # s = (2/15) / √2, so s / √2 = 1/15; t(0.975, 1) = 12.706205
    assert change.low == pytest.approx(-0.2 - 12.706205 / 15, abs=1e-6)
    assert change.high == pytest.approx(-0.2 + 12.706205 / 15, abs=1e-6)
    assert not change.significant


def test_change_pairs_by_seed_not_by_order() -> None:
    change = paired_change({2: 18.0, 1: 9.0, 3: 99.0}, {1: 10.0, 2: 20.0})
    assert change is not None
    assert change.change == pytest.approx(27 / 30 - 1)


def test_one_seed_gives_a_change_without_interval() -> None:
    change = paired_change({1: 8.0}, {1: 10.0})
    assert change is not None
    assert (change.change, change.low, change.high) == (pytest.approx(-0.2), None, None)
    assert not change.significant


def test_equal_figures_do_not_differ_even_at_zero() -> None:
    change = paired_change({1: 0.0, 2: 0.0}, {1: 0.0, 2: 0.0})
    assert change is not None
    assert (change.change, change.low, change.high) == (0.0, 0.0, 0.0)


def test_no_ratio_to_nothing() -> None:
    assert paired_change({1: 1.0}, {1: 0.0}) is None
    assert paired_change({1: 1.0}, {2: 1.0}) is None


def test_constant_difference_is_significant() -> None:
    change = paired_change({1: 9.0, 2: 19.0}, {1: 10.0, 2: 20.0})
    assert change is not None
    assert change.significant


@pytest.mark.parametrize(
    ("values", "index"),
    [
        ([1, 1, 1, 1], 1.0),
        ([1, 0, 0, 0], 0.25),
        ([1, 2, 3], 36 / 42),  # (1+2+3)² / (3 · (1+4+9))
        ([0, 0], 1.0),
        ([], 1.0),
    ],
)
def test_jain(values: list[float], index: float) -> None:
    assert jain(np.array(values, dtype=float)) == pytest.approx(index)


def test_slowdown_is_mean_over_the_good_case() -> None:
    # function 0: 1, 2, 3 -> good case 1, mean 2; function 1: 10 and 30 -> 20 / 10; the NaN is no answer
    fct = np.array([3.0, 10.0, 1.0, np.nan, 2.0, 30.0])
    function = np.array([0, 1, 0, 0, 0, 1], dtype=np.int32)
    assert slowdowns(fct, function).tolist() == [2.0, 2.0]
    assert slowdowns(np.array([np.nan]), np.array([0], dtype=np.int32)).tolist() == []
