"""Round-robin: hosts in turn."""

from trimtab.policies.place.decorator import place
from trimtab.sim.placing import is_feasible


@place("round-robin")
def policy(request, hosts, memory, world, site):
    """The next feasible host after the last one; ``memory[0]`` holds where to begin."""
    count = len(hosts)
    start = int(memory[0])
    for offset in range(count):
        index = (start + offset) % count
        if is_feasible(world, hosts[index], request, site):
            memory[0] = (index + 1) % count
            return index
    return -1
