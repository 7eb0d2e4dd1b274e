"""``rank``: learned; relative load, corrected by predicted success and demand for a worker; drops late queries."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from trimtab.policies.parameters import check_parameters
from trimtab.policies.route.decorator import RoutePolicy, route
from trimtab.policies.route.loads import relative_load
from trimtab.policies.route.outlook import FIRST, SCORE, STATE, look, note
from trimtab.policies.route.rank_features import FEATURES, WIDTH, fill
from trimtab.policies.trained import Trained
from trimtab.sim.kernel import kernel

__all__ = ["FEATURES", "SIZE", "build", "policy", "untrained"]

SIZE = len(FEATURES)
_MEMORY = 16_384
"""Floats: rows for some 780 workers. Beyond them the rule alone decides."""
_FIRST, _WIDTH, _STATE, _SCORE, _SIZE = FIRST, WIDTH, STATE, SCORE, SIZE


@kernel
def corrected(stream, worker, memory, weights, row):
    """The score of a worker: the rule, and the features by their weights; kept in the worker's row."""
    fill(stream, worker, memory, row)
    value = -relative_load(worker)
    for position in range(_SIZE):
        value += weights[position] * memory[row + _STATE + position]
    memory[row + _SCORE] = value
    return value


@route("rank", drops_late=True, memory=_MEMORY)
def policy(stream, workers, memory, weights):
    """The feasible worker with the highest score."""
    known = _FIRST + _WIDTH * len(workers) <= len(memory)
    if known:
        look(stream, workers, memory, _WIDTH)
    best, highest = -1, -math.inf
    for index in range(len(workers)):
        worker = workers[index]
        if worker.feasible == 1:
            row = _FIRST + _WIDTH * index
            value = corrected(stream, worker, memory, weights, row) if known else -relative_load(worker)
            if best == -1 or value > highest:
                best, highest = index, value
    if known and best >= 0:
        note(stream, workers[best], memory, _FIRST + _WIDTH * best)
    return best


def untrained() -> RoutePolicy:
    """With weights of zero: relative load, and late queries are dropped."""
    return replace(policy, weights=(0.0,) * SIZE)


def build(trained: Trained, parameters: dict[str, Any]) -> RoutePolicy:
    """The policy of a trained folder."""
    check_parameters("rank", parameters, ())
    trained.expect(FEATURES, {"weights": (SIZE,)})
    return replace(policy, weights=tuple(float(value) for value in trained.arrays["weights"]))
