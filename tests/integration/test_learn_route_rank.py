"""Training the router: the same twice, the same after a break, and better than where it starts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from trimtab.errors import TrimtabError
from trimtab.learn import recipe
from trimtab.learn.recipe import TRAINING_SEEDS
from trimtab.learn.route_rank import BEST, FAMILY, RouteRankLearner, Run, family, vary
from trimtab.policies.route import rank
from trimtab.scenario.load import load_scenario

TINY = replace(BEST, runs=2, pairs=2, seconds=40.0, warm_up=10.0)


def learner(seed: int = 1) -> RouteRankLearner:
    return TINY.start(load_scenario("aset-full-edge"), seed, 4)


def weights(found: RouteRankLearner) -> np.ndarray:
    return found.trained().arrays["weights"]


def test_training_is_the_same_twice_and_after_a_break() -> None:
    unbroken, broken, again = learner(), learner(), learner()
    curve = [unbroken.step() for _ in range(3)]
    first = [broken.step() for _ in range(2)]
    arrays, meta = broken.state()
    again.restore({name: array.copy() for name, array in arrays.items()}, dict(meta))
    assert [*first, again.step()] == curve
    assert np.array_equal(weights(again), weights(unbroken))
    assert not np.array_equal(weights(learner(2)), weights(unbroken))


def test_it_is_found_by_its_name() -> None:
    assert recipe.find("route", "rank", None) is BEST
    about = BEST.training(load_scenario("aset-dc-cloud"))
    assert set(about["scenarios"]) == set(FAMILY)
    assert about["first_workload_seed"] == TRAINING_SEEDS


def test_a_scenario_of_ones_own_is_trained_on_alone() -> None:
    joint = load_scenario("joint-edge")
    assert [each.name for each in family(joint)] == ["joint-edge"]
    shorter = vary(joint, 0.5, 30.0, 5.0)
    spec: Any = shorter.workload
    assert (spec.rate, spec.duration, spec.warm_up) == (12.0, 30.0, 5.0)
    # its instances are scaled and its hosts chosen by others, as in a comparison
    assert 0.0 < Run(shorter, TRAINING_SEEDS).success(np.zeros(rank.SIZE)) <= 1.0


def test_other_workloads_are_refused() -> None:
    with pytest.raises(TrimtabError, match=r"workload\.source = 'faasrank', must be 'streams' to train a route policy"):
        BEST.start(load_scenario("faasrank-canada"), 1, 1)


def test_a_little_training_beats_a_bad_start() -> None:
    # from a start that sends streams to where they are most crowded, towards the rule and beyond
    found = learner()
    bad = np.zeros(rank.SIZE)
    bad[rank.FEATURES.index("load")] = 3.0
    found._evolution.mean[:] = bad
    found._average[:] = bad
    for _ in range(8):
        found.step()
    unseen = [Run(vary(load_scenario("aset-full-edge"), 1.5, 60.0, 20.0), seed) for seed in (1, 2, 3)]
    after = found._evolution.mean
    assert np.mean([each.success(after) for each in unseen]) > np.mean([each.success(bad) for each in unseen]) + 0.01
