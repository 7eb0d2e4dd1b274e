"""OpenWhisk's default: the home invoker by hash, then steps that are pairwise coprime.

ShardingContainerPoolBalancer: home = hash mod n; step = steps[hash mod len(steps)]; an invoker is taken if
it has memory slots left; after n + 2 probes a random healthy invoker is overloaded (forced placement).
"""

from trimtab.policies.place.decorator import place
from trimtab.policies.place.random_host import draw_feasible
from trimtab.sim.kernel import kernel, routine
from trimtab.sim.placing import is_feasible

_LONGEST = 4000


@kernel
def greatest_common_divisor(first, second):
    """Euclid's."""
    while second != 0:
        first, second = second, first % second
    return first


@routine
def fill_steps(memory, count):
    """``memory[1:]`` becomes the greedy list of pairwise coprime numbers that are coprime with ``count``."""
    length = 0
    for candidate in range(1, count + 1):
        coprime = greatest_common_divisor(candidate, count) == 1
        for position in range(length):
            coprime = coprime and greatest_common_divisor(candidate, int(memory[1 + position])) == 1
        if coprime and length < _LONGEST:
            memory[1 + length] = candidate
            length += 1
    memory[0] = length


@place("hashing", memory=_LONGEST + 1)
def policy(request, hosts, memory, random, world, site):
    """Probe from the home invoker on; managed actions use the first ``managed`` invokers only."""
    count = world.managed
    if memory[0] == 0.0:
        fill_steps(memory, count)
    step = int(memory[1 + request.hash % int(memory[0])])
    index = request.hash % count
    for _ in range(count + 2):
        host = hosts[index]
        if is_feasible(world, host, request, site) and host.slots_free >= request.memory:
            return index
        index = (index + step) % count
    return draw_feasible(request, hosts[:count], random, world, site)
