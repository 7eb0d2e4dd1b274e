"""A placement decision inside the engine: ask the policy, and check its answer."""

from __future__ import annotations

from trimtab.sim.instances import has_room
from trimtab.sim.kernel import kernel
from trimtab.sim.records import ASK, BY_HOST, NONE, ON

_NONE, _ON, _BY_HOST, _ASK = NONE, ON, BY_HOST, ASK


@kernel
def is_feasible(world, host, request, site):
    """Whether a request may be placed on a host: it is up, reachable, large enough and in the right site.

    By host, a full invoker queues a request; otherwise, and for a start that no request waits for, the new
    instance must fit, idle ones evicted.
    """
    if host.state != _ON or host.cut == 1 or request.memory > host.memory:
        return False
    if site != _NONE and site != host.site:
        return False
    return (world.dispatch == _BY_HOST and request.id != _NONE) or has_room(host, request.memory)


@kernel
def choose_host(core, mind, choose, slot):
    """Ask the policy; NONE means that no host will do, below that the policy's answer was bad."""
    world = core.world[0]
    choice = choose(
        core.world, core.active, slot, core.hosts, core.functions, core.pools, core.dirty, mind.memory, mind.weights,
        mind.random, mind.scores, mind.tree, mind.running,
    )  # fmt: skip
    if choice < 0:
        world.decisions += 1 if choice != _ASK else 0
        return choice
    world.decisions += 1
    request = core.active[slot]
    if choice >= world.hosts or not is_feasible(
        world, core.hosts[choice], request, core.functions[request.function].site
    ):
        world.bad_host = choice
        return -3
    return choice
