"""What every recipe must hold to: the same seed gives the same weights, and a state that was written goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from trimtab.learn.recipe import Learner, Progress, Recipe, State, finite
from trimtab.scenario.model import Scenario


def identical(left: State, right: State) -> bool:
    """Whether two bundles of arrays are the same to the last bit."""
    return left.keys() == right.keys() and all(
        left[name].dtype == right[name].dtype
        and left[name].shape == right[name].shape
        and left[name].tobytes() == right[name].tobytes()
        for name in left
    )


def train(learner: Learner, units: int) -> list[Progress]:
    """Some units."""
    return [learner.step() for _ in range(units)]


def through_disk(state: tuple[State, dict[str, Any]]) -> tuple[State, dict[str, Any]]:
    """A state as a checkpoint gives it back: arrays apart from the learner's, JSON's types."""
    arrays, meta = state
    return {name: np.array(array) for name, array in arrays.items()}, json.loads(json.dumps(meta, allow_nan=False))


def assert_keeps_the_contract(
    recipe: Recipe, scenario: Scenario, units: int = 4, cuts: Sequence[int] = (0, 2), seed: int = 3
) -> None:
    """Train without a break, twice; then with a break after each of ``cuts`` units. All must be the same."""
    first = recipe.start(scenario, seed, units)
    curve = train(first, units)
    weights = first.trained().arrays
    assert finite(first.state()[0])
    assert finite(weights)
    again = recipe.start(scenario, seed, units)
    assert train(again, units) == curve
    assert identical(again.trained().arrays, weights)
    for cut in cuts:
        before = recipe.start(scenario, seed, units)
        assert train(before, cut) == curve[:cut]
        arrays, meta = through_disk(before.state())
        train(before, 1)  # a state that was taken does not change when training goes on
        after = recipe.start(scenario, seed + 1 if cut else seed, units)
        after.restore(arrays, meta)
        assert train(after, units - cut) == curve[cut:]
        assert identical(after.trained().arrays, weights)
        assert identical(after.state()[0], first.state()[0])
        assert through_disk(after.state())[1] == through_disk(first.state())[1]
    json.dumps(recipe.training(scenario), allow_nan=False)
