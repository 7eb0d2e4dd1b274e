"""How long a compiled decision takes: asked many times of the state at the end of a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from trimtab.sim.kernel import entry
from trimtab.sim.lists import free_request
from trimtab.sim.placing import choose_host
from trimtab.sim.records import NONE
from trimtab.sim.requests import blank_request
from trimtab.sim.routing import look_at_workers
from trimtab.sim.simulation import Simulation

_TIMES = 200
_NONE = NONE


@entry
def ask(core, mind, choose, times):
    """Ask a placement policy again and again, with every host's score to be computed anew."""
    slot = blank_request(core, 0)
    last = _NONE
    for _ in range(times):
        world = core.world[0]
        for index in range(world.hosts):
            if core.hosts[index].dirty == 0:
                core.hosts[index].dirty = 1
                core.dirty[world.dirty_count] = index
                world.dirty_count += 1
        last = choose_host(core, mind, choose, slot)
    free_request(core, slot)
    return last


@entry
def ask_router(core, columns, mind, route, times):
    """Ask a routing policy about the last stream again and again, what it sees of the workers included."""
    last = _NONE
    index = len(columns.streams) - 1
    for _ in range(times):
        look_at_workers(core, columns, columns.streams[index])
        last = route(
            core.world, columns.streams, index, core.functions, mind.memory, mind.weights, mind.random, mind.scores
        )
    return last


def decision_seconds(simulation: Simulation) -> float:
    """Seconds of one decision that is taken inside the engine: routing where there are streams, else placement."""
    if len(simulation.columns.streams):
        return _seconds(
            ask_router, simulation.core, simulation.columns, simulation.route_mind, simulation.route.compiled
        )
    if simulation.place is None or len(simulation.core.functions) == 0:
        return 0.0
    simulation.reserve(1)
    return _seconds(ask, simulation.core, simulation.mind, simulation.place.compiled)


def _seconds(question: Callable[..., int], *about: Any) -> float:
    question(*about, 1)
    began = time.perf_counter()
    question(*about, _TIMES)
    return (time.perf_counter() - began) / _TIMES
