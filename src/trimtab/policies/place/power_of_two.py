"""Power of two choices: the less loaded of two hosts drawn at random."""

from trimtab.policies.place.decorator import place
from trimtab.policies.place.random_host import draw_feasible


@place("power-of-two")
def policy(request, hosts, random, world, site):
    """Draw two, take the one with fewer requests in flight."""
    first = draw_feasible(request, hosts, random, world, site)
    second = draw_feasible(request, hosts, random, world, site)
    if first >= 0 and hosts[second].inflight < hosts[first].inflight:
        return second
    return first
