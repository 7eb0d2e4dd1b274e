"""Random: any feasible host, all alike."""

from trimtab.policies.place.decorator import place
from trimtab.sim.draw import below
from trimtab.sim.kernel import routine
from trimtab.sim.placing import is_feasible


@routine
def draw_feasible(request, hosts, random, world, site):
    """A feasible host, each with the same probability: by trial first, by a scan where few are feasible."""
    count = len(hosts)
    for _ in range(8):
        index = below(random, count)
        if is_feasible(world, hosts[index], request, site):
            return index
    chosen, seen = -1, 0
    for index in range(count):
        if is_feasible(world, hosts[index], request, site):
            seen += 1
            if below(random, seen) == 0:
                chosen = index
    return chosen


@place("random")
def policy(request, hosts, random, world, site):
    """Draw one."""
    return draw_feasible(request, hosts, random, world, site)
