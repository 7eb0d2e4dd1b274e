"""FaaSRank: a network of 26-32-16-1 scores every server from Table I's metrics, the highest score wins.

Yu et al., ACSOS 2021. One network for all servers, so the same weights serve any number of them. The critic is
needed for training alone; it is kept beside the actor so that training can go on (2,818 parameters together).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.policies.network import count, score_32_16
from trimtab.policies.parameters import check_parameters
from trimtab.policies.place.decorator import NOT_A_NUMBER, PlacePolicy, place
from trimtab.policies.place.metrics import (
    FEATURES,
    MEMORY,
    OF_FUNCTION,
    fill_metrics,
    fill_spread,
    normalise,
    normalised,
)
from trimtab.policies.trained import Trained
from trimtab.sim.kernel import kernel
from trimtab.sim.placing import is_feasible

__all__ = ["FEATURES", "LAYERS", "Scorer", "build"]

LAYERS = (len(FEATURES), 32, 16, 1)
WEIGHTS = count(LAYERS)
"""Of the actor, and of the critic."""
SHAPES = {"actor": (WEIGHTS,), "critic": (WEIGHTS,)}
SCALE = ("function_mean", "function_deviation")
"""Settings: of requested_memory in MiB and init_time in seconds, over the functions of the training scenario."""

_WIDE, _WEIGHTS, _NOT_A_NUMBER = len(FEATURES), WEIGHTS, NOT_A_NUMBER


@kernel
def score_of(world, host, request, pools, memory, weights):
    """The actor's score of a server; ``memory`` holds the spread over all servers, and then the inputs too."""
    fill_metrics(world, host, request, pools, memory)
    normalise(memory, weights, _WEIGHTS)
    total = 0.0
    for index in range(_WIDE):
        total += memory[index]
    # the fast tanh would make a number of an input that is none
    return score_32_16(weights, 0, memory, _WIDE) if math.isfinite(total) else math.nan


@place("faasrank", memory=MEMORY, samples=True)
def policy(request, hosts, memory, weights, world, site, pools):
    """The feasible server with the highest score."""
    fill_spread(world, hosts, request, site, pools, memory)
    best, highest = -1, -math.inf
    for index in range(world.hosts):
        if not is_feasible(world, hosts[index], request, site):
            continue
        score = score_of(world, hosts[index], request, pools, memory, weights)
        if math.isnan(score):
            return _NOT_A_NUMBER - index
        if best == -1 or score > highest:
            best, highest = index, score
    return best


def build(trained: Trained, parameters: dict[str, Any]) -> PlacePolicy:
    """The policy of a trained folder."""
    check_parameters("faasrank", parameters, ())
    trained.expect(FEATURES, SHAPES)
    return replace(policy, weights=(*map(float, trained.arrays["actor"]), *function_scale(trained)))


def function_scale(trained: Trained) -> tuple[float, ...]:
    """Means, then deviations, of the function's metrics from a policy's settings."""
    found: list[float] = []
    for name in SCALE:
        values = trained.description.settings.get(name)
        if not isinstance(values, list | tuple) or len(values) != OF_FUNCTION:
            raise TrimtabError(f"{trained.where}: settings.{name} = {values!r}, must be {OF_FUNCTION} numbers")
        if not all(isinstance(each, int | float) and math.isfinite(each) for each in values):
            raise TrimtabError(f"{trained.where}: settings.{name} = {values!r}, must be {OF_FUNCTION} numbers")
        if name == "function_deviation" and min(values) <= 0.0:
            raise TrimtabError(f"{trained.where}: settings.{name} = {values!r}, must be above 0")
        found += map(float, values)
    return tuple(found)


class Scorer:
    """The same network by numpy, for a control loop: scores of servers from Table I's metrics as measured."""

    def __init__(self, weights: Sequence[float]) -> None:
        """``weights`` are those of the built policy: the actor's, then the scale of the function's metrics."""
        values, start = np.asarray(weights, np.float64), 0
        self._layers = []
        for wide, narrow in pairwise(LAYERS):
            matrix = values[start : start + wide * narrow].reshape(wide, narrow)
            start += (wide + 1) * narrow
            # single precision: numpy's tanh is several times faster for it
            self._layers.append((matrix.astype(np.float32), values[start - narrow : start].astype(np.float32)))
        self._scale = values[start:]

    def __call__(self, metrics: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
        """A score for each row, one a server."""
        values = normalised(metrics, self._scale).astype(np.float32)
        for matrix, bias in self._layers[:-1]:
            values = values @ matrix
            values += bias
            np.tanh(values, out=values)
        matrix, bias = self._layers[-1]
        return np.asarray((values @ matrix + bias)[:, 0])
