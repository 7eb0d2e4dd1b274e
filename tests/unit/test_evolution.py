"""The search finds a minimum, is seeded, and can be taken up again."""

from __future__ import annotations

import numpy as np
import pytest

from trimtab.errors import TrimtabError
from trimtab.learn.evolution import Evolution

TARGET = np.array([1.0, -2.0, 0.5, 3.0, 0.0, -1.0])
SCALES = np.array([1.0, 10.0, 100.0, 1.0, 30.0, 3.0])


def losses(candidates):
    """An ellipsoid: some directions count a hundred times as much as others."""
    return ((candidates - TARGET) ** 2 * SCALES).sum(axis=1)


def searched(generations, seed=3):
    search = Evolution(np.zeros(6), 0.5, 6, seed)
    for _ in range(generations):
        search.tell(losses(search.ask()))
    return search


def test_it_finds_the_minimum_of_an_ellipsoid():
    assert np.abs(searched(250).mean - TARGET).max() < 1e-6


def test_only_the_order_of_losses_counts():
    first, second = Evolution(np.zeros(6), 0.5, 6, 3), Evolution(np.zeros(6), 0.5, 6, 3)
    for _ in range(20):
        first.tell(losses(first.ask()))
        second.tell(np.log(losses(second.ask())))
    assert np.array_equal(first.mean, second.mean)


def test_mirrored_candidates_lie_around_the_mean():
    search = searched(5)
    candidates = search.ask()
    assert np.allclose(candidates[:6] + candidates[6:], 2 * search.mean)


def test_a_candidate_without_a_loss_is_the_worst():
    search = Evolution(np.zeros(6), 0.5, 6, 3)
    for _ in range(150):
        candidates = search.ask()
        found = losses(candidates)
        found[candidates[:, 0] > 1.5] = np.nan
        search.tell(found)
    assert np.abs(search.mean - TARGET).max() < 1e-3


def test_same_seed_same_search_and_resumed_the_same_too():
    whole, again = searched(30), searched(30)
    assert np.array_equal(whole.mean, again.mean) and whole.step == again.step
    begun = searched(12)
    resumed = Evolution(np.zeros(6), 0.5, 6, seed=99)
    resumed.restore(*begun.state())
    for _ in range(18):
        resumed.tell(losses(resumed.ask()))
    assert np.array_equal(whole.mean, resumed.mean)
    assert np.array_equal(whole.covariance, resumed.covariance)


def test_another_seed_searches_elsewhere():
    assert not np.array_equal(searched(3).mean, searched(3, seed=4).mean)


def test_what_does_not_fit_is_refused():
    search = Evolution(np.zeros(6), 0.5, 6, 3)
    search.ask()
    with pytest.raises(TrimtabError, match="5 losses, must be one for each of 12"):
        search.tell(np.zeros(5))
    with pytest.raises(TrimtabError, match="must be at least 2 and above 0"):
        Evolution(np.zeros(6), 0.0, 6, 3)
    with pytest.raises(TrimtabError, match=r"mean has shape \(2,\), must be \(6,\)"):
        search.restore(*Evolution(np.zeros(2), 0.5, 6, 3).state())
