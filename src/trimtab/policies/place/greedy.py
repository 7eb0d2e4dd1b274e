"""Greedy packing, as FaaSRank mimics AWS Lambda: the same host until it has no capacity left."""

from trimtab.policies.place.decorator import place
from trimtab.sim.placing import is_feasible


@place("greedy")
def policy(request, hosts, world, site):
    """The first host whose free memory slots hold the request; the least loaded when all are full."""
    fallback = -1
    for index in range(len(hosts)):
        host = hosts[index]
        if not is_feasible(world, host, request, site):
            continue
        if host.slots_free >= request.memory:
            return index
        if fallback == -1 or host.slots_free > hosts[fallback].slots_free:
            fallback = index
    return fallback
