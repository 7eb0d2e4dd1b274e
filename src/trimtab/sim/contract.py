"""The types of the decisions that are taken inside the engine: it is compiled for these, once."""

from __future__ import annotations

from typing import Any

import numba
from numba import types

from trimtab.sim import records
from trimtab.sim.cache import activate
from trimtab.sim.placing import is_feasible


def _array(dtype: Any) -> Any:
    return types.Array(numba.from_dtype(dtype), 1, "C")


_FLOATS = types.Array(types.float64, 1, "C")
_INTS = types.Array(types.int32, 1, "C")
_WORDS = types.Array(types.uint64, 1, "C")

PLACE = types.int64(
    _array(records.WORLD), _array(records.ACTIVE), types.int64, _array(records.HOST), _array(records.FUNCTION),
    _array(records.POOL), _INTS, _FLOATS, _FLOATS, _WORDS, _FLOATS, _INTS, _array(records.RUN),
)  # fmt: skip
"""(world, active, slot, hosts, functions, pools, dirty, memory, weights, random, scores, tree, running)."""
ROUTE = types.int64(
    _array(records.WORLD), _array(records.STREAM), types.int64, _array(records.FUNCTION), _FLOATS, _FLOATS, _WORDS,
    _FLOATS,
)  # fmt: skip
"""A routing: (world, streams, index, workers, memory, weights, random, scores)."""


CACHED = activate(__name__).is_dir()


@numba.cfunc(PLACE, nogil=True, cache=CACHED)
def place_first(world, active, slot, hosts, functions, pools, dirty, memory, weights, random, scores, tree, running):
    """For scenarios without a placement policy: the first host that will do."""
    request = active[slot]
    site = functions[request.function].site
    for index in range(world[0].hosts):
        if is_feasible(world[0], hosts[index], request, site):
            return index
    return -1


@numba.cfunc(ROUTE, nogil=True, cache=CACHED)
def route_nowhere(world, streams, index, workers, memory, weights, random, scores):
    """For scenarios without streams."""
    return -1
