"""Small networks: the compiled layers against numpy, and numpy against a network worked out by hand."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from trimtab.policies.network import count, dense, fast_tanh, flatten, forward, score_32_16


@numba.njit(error_model="numpy")
def tanh_of(value):  # type: ignore[no-untyped-def]
    return fast_tanh(value)


@numba.njit(error_model="numpy")
def layer(weights, start, inputs, first, wide, outputs, begin, narrow, hidden):  # type: ignore[no-untyped-def]
    return dense(weights, start, inputs, first, wide, outputs, begin, narrow, hidden)


@numba.njit(error_model="numpy")
def score(weights, start, inputs, wide):  # type: ignore[no-untyped-def]
    return score_32_16(weights, start, inputs, wide)


def test_tanh() -> None:
    values = np.concatenate([np.linspace(-12, 12, 4001), np.array([0.0, 1e-9, -1e-9, 50.0, -1e9, 1e300])])
    for value in values:
        assert tanh_of(value) == pytest.approx(math.tanh(value), abs=1e-6)
    assert tanh_of(math.inf) == pytest.approx(1.0, abs=1e-6)
    assert tanh_of(-0.3) == -tanh_of(0.3)


def test_tanh_does_not_hide_a_number_that_is_none() -> None:
    """The engine stops a run whose score is not a number; a clamp must not make a number of it."""
    assert math.isnan(tanh_of(math.nan))


def test_a_network_by_hand() -> None:
    """2-2-1 with matrix rows by input: hidden = tanh((1·1 + 2·0 + 0.5, 1·(-1) + 2·1 + 0)) = tanh(1.5, 1)."""
    weights = flatten(
        [np.array([[1.0, -1.0], [0.0, 1.0]]), np.array([[2.0], [3.0]])], [np.array([0.5, 0.0]), np.array([-1.0])]
    )
    assert weights.tolist() == [1.0, -1.0, 0.0, 1.0, 0.5, 0.0, 2.0, 3.0, -1.0]
    assert len(weights) == count((2, 2, 1)) == 9
    expected = 2 * math.tanh(1.5) + 3 * math.tanh(1.0) - 1
    assert forward(weights, (2, 2, 1), np.array([1.0, 2.0])).item() == pytest.approx(expected, abs=1e-12)


def test_two_networks_of_the_paper_have_its_number_of_weights() -> None:
    assert 2 * count((26, 32, 16, 1)) == 2818


def test_rows_are_independent() -> None:
    random = np.random.default_rng(1)
    weights = random.normal(size=count((5, 7, 3)))
    rows = random.normal(size=(4, 5))
    together = forward(weights, (5, 7, 3), rows)
    assert together.shape == (4, 3)
    for row, expected in zip(rows, together, strict=True):
        np.testing.assert_allclose(forward(weights, (5, 7, 3), row)[0], expected, atol=1e-12)


@pytest.mark.parametrize(("wide", "narrow"), [(1, 1), (3, 8), (26, 32), (32, 16)])
def test_a_linear_layer_is_numpys(wide: int, narrow: int) -> None:
    random = np.random.default_rng(wide)
    weights = random.normal(size=10 + count((wide, narrow)))
    inputs, outputs = random.normal(size=wide + 2), np.full(narrow + 3, 7.0)
    after = layer(weights, 10, inputs, 2, wide, outputs, 1, narrow, False)
    assert after == len(weights)
    expected = forward(weights[10:], (wide, narrow), inputs[2:])[0]
    np.testing.assert_allclose(outputs[1 : 1 + narrow], expected, atol=1e-9)
    assert outputs[0] == 7.0
    assert outputs[1 + narrow :].tolist() == [7.0, 7.0]


def test_a_hidden_layer_is_numpys_but_for_tanh() -> None:
    random = np.random.default_rng(5)
    weights = random.normal(size=count((6, 9)))
    inputs, outputs = random.normal(size=6), np.zeros(9)
    layer(weights, 0, inputs, 0, 6, outputs, 0, 9, True)
    np.testing.assert_allclose(outputs, np.tanh(forward(weights, (6, 9), inputs)[0]), atol=1e-6)


@pytest.mark.parametrize("wide", [1, 26, 40])
def test_the_score_is_numpys(wide: int) -> None:
    random = np.random.default_rng(wide)
    layers = (wide, 32, 16, 1)
    weights = random.normal(scale=0.3, size=4 + count(layers))
    inputs = random.normal(size=wide)
    scratch = np.concatenate([inputs, np.full(48, math.nan)])
    found = score(weights, 4, scratch, wide)
    assert found == pytest.approx(forward(weights[4:], layers, inputs).item(), abs=1e-6)
    first = np.array([tanh_of(value) for value in forward(weights[4:], (wide, 32), inputs)[0]])
    rest = weights[4 + count((wide, 32)) :]
    second = np.array([tanh_of(value) for value in forward(rest, (32, 16), first)[0]])
    assert found == pytest.approx(forward(rest[count((32, 16)) :], (16, 1), second).item(), abs=1e-9)
    assert scratch[:wide].tolist() == inputs.tolist()


def test_the_score_of_a_row_that_holds_no_number_is_none() -> None:
    weights = np.ones(count((2, 32, 16, 1)))
    assert math.isnan(score(weights, 0, np.concatenate([[math.nan, 1.0], np.zeros(48)]), 2))
