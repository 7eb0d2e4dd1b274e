"""Which sizes are measured, and the curve that comes of it."""

from __future__ import annotations

import itertools

from trimtab.live.calibrate.sizes import MOST_SIZES, next_size, rising


def test_a_linear_function_is_climbed_by_doubling() -> None:
    measured = [(100.0, 0.001)]
    while (size := next_size(measured, 0.5)) is not None:
        measured.append((float(size), size * 1e-5))
    sizes = [size for size, _ in measured]
    assert sizes[:4] == [100, 200, 400, 800]
    assert 0.5 <= measured[-1][1] < 1.0


def test_an_exponential_function_is_climbed_carefully() -> None:
    # 20 took 1 ms and 22 took 4 ms: a factor of 4 is two steps more
    assert next_size([(20, 0.001), (22, 0.004)], 0.5) == 24
    measured = [(1.0, 1e-6 * 1.618), (2.0, 1e-6 * 1.618**2)]
    while (size := next_size(measured, 0.5)) is not None:
        measured.append((float(size), 1e-6 * 1.618**size))
    assert measured[-1][1] < 4 * 0.5
    assert all(after[0] > before[0] for before, after in itertools.pairwise(measured))


def test_a_size_that_costs_nothing_yet_is_doubled() -> None:
    assert next_size([(2, 0.0), (4, 0.0)], 0.5) == 8
    assert next_size([(1, 0.0)], 0.5) == 2


def test_the_curve_rises() -> None:
    # 20 was faster than 10 by noise: it cannot be inverted, and goes
    assert rising([(10, 0.002), (20, 0.0019), (40, 0.008), (80, 0.016)]) == ((10, 0.002), (40, 0.008), (80, 0.016))


def test_a_function_that_never_takes_long_is_given_up() -> None:
    measured = [(1.0, 0.0)]
    while (size := next_size(measured, 0.5)) is not None:
        measured.append((float(size), 0.0))
    assert len(measured) == MOST_SIZES
