"""How long a compiled decision takes: asked many times of the state at the end of a run."""

from __future__ import annotations

import time

from trimtab.sim.kernel import entry
from trimtab.sim.lists import free_request
from trimtab.sim.placing import choose_host
from trimtab.sim.records import NONE
from trimtab.sim.requests import blank_request
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


def decision_seconds(simulation: Simulation) -> float:
    """Seconds of one placement decision; zero where the scenario has none, or nothing is deployed."""
    if simulation.place is None or len(simulation.core.functions) == 0:
        return 0.0
    simulation.reserve(1)
    choose = simulation.place.compiled
    ask(simulation.core, simulation.mind, choose, 1)
    began = time.perf_counter()
    ask(simulation.core, simulation.mind, choose, _TIMES)
    return (time.perf_counter() - began) / _TIMES
