"""``rank``: drain-ahead with a learned correction, and back to drain-ahead when completion times surprise it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trimtab.errors import TrimtabError
from trimtab.policies.parameters import guard_of
from trimtab.policies.place import rank_guard
from trimtab.policies.place.completion import tie_break
from trimtab.policies.place.decorator import PlacePolicy, place
from trimtab.policies.place.rank_features import (
    COUNT,
    FEATURES,
    LENGTH,
    OTHERS,
    OWN,
    TYPICAL,
    VALUES,
    VICTIM,
    cold_of,
    look,
    note_arrival,
    note_placement,
    share_of,
    spread_of,
)
from trimtab.policies.place.rank_guard import observe, watch
from trimtab.policies.trained import Trained
from trimtab.policies.view import fill_by_request
from trimtab.sim.placing import is_feasible

__all__ = ["FEATURES", "GUARD", "SIZE", "build", "untrained"]

SIZE = COUNT + 3
"""Weights: one a feature, the surprise beyond which the guard steps in, and the shares of a host's cores that a
request could use in training, from … to: of other machines the correction knows nothing."""
GUARD = LENGTH
"""Where the guard's part of the memory begins."""
_LIMIT, _LEAST, _MOST = COUNT, COUNT + 1, COUNT + 2
_ROUNDING = 1e-6


@place("rank", memory=LENGTH + rank_guard.LENGTH)
def policy(request, hosts, weights, memory, slot, world, site, pools, active, functions, room):
    """The host with the least time added, as drain-ahead reckons it and as training corrected it."""
    trusted = observe(memory, GUARD, active, world.now, weights[_LIMIT])
    note_arrival(memory, request.function, world.now)
    best, highest, own, victim = -1, 0.0, 0.0, 0.0
    least, promised, total, seen = math.inf, 0.0, 0.0, 0
    for index in range(world.hosts):
        host = hosts[index]
        if not is_feasible(world, host, request, site):
            continue
        if memory[TYPICAL] == 0.0:
            function = functions[request.function]
            memory[TYPICAL] = cold_of(function, host) + function.work / (host.cores * host.speed)
        fill_by_request(world, host, request, pools)
        total += look(world, host, request, functions, pools, active, memory, room)
        seen += 1
        added = memory[VALUES + OWN] + memory[VALUES + OTHERS] + tie_break(host)
        if added < least:
            least, promised = added, memory[VALUES + OWN] + spread_of(functions[request.function], host)
        correction = 0.0
        for position in range(COUNT):
            correction += weights[position] * memory[VALUES + position]
        share = share_of(functions[request.function], host)
        known = weights[_LEAST] - _ROUNDING <= share <= weights[_MOST] + _ROUNDING
        value = -(added + correction) if trusted and known and math.isfinite(correction) else -added
        if best == -1 or value > highest:
            best, highest, own, victim = index, value, memory[VALUES + OWN], memory[VICTIM]
    if best == -1:
        return -1
    note_placement(world, request, memory, best, own, total / seen, victim)
    watch(memory, GUARD, slot, request, world.now, promised)
    return best


def untrained() -> PlacePolicy:
    """The rule alone: all weights zero, the guard never steps in."""
    return replace(policy, weights=(0.0,) * COUNT + (math.inf, 0.0, 1.0))


def build(trained: Trained, parameters: Mapping[str, Any]) -> PlacePolicy:
    """The policy of a trained folder; ``guard: false`` lets its correction decide on any machine, come what may."""
    guard = guard_of("rank", parameters)
    trained.expect(FEATURES, {"weights": (COUNT,), "limit": (1,), "shares": (2,)})
    limit = float(trained.arrays["limit"][0])
    if limit <= 1.0:
        raise TrimtabError(f"{trained.where}: limit = {limit:g}, must be above 1: times as long as expected")
    least, most = (float(value) for value in trained.arrays["shares"])
    if not 0.0 <= least <= most <= 1.0:
        raise TrimtabError(f"{trained.where}: shares = {least:g}, {most:g}, must rise from 0 to 1 at most")
    weights = tuple(float(value) for value in trained.arrays["weights"])
    return replace(policy, weights=(*weights, *((limit, least, most) if guard else (math.inf, 0.0, 1.0))))
