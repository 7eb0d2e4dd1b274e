"""FaaSRank's static-rank, equation 1: 2 cpu + 1.5 memory + disk + network + load + infra + 3 slots.

Every term is min-max-normalised over the hosts so that more means freer or warmer.
"""

from trimtab.policies.place.decorator import place
from trimtab.policies.place.terms import fill_terms, term_limits
from trimtab.sim.placing import is_feasible

_WEIGHTS = (2.0, 1.5, 1.0, 1.0, 1.0, 1.0, 3.0)


@place("static-rank", memory=32, samples=True)
def policy(request, hosts, memory, world, site, pools):
    """The host with the highest score."""
    term_limits(world, hosts, request, pools, memory)
    best, highest = -1, -1.0
    for index in range(len(hosts)):
        if not is_feasible(world, hosts[index], request, site):
            continue
        fill_terms(world, hosts[index], request, pools, memory)
        score = 0.0
        for term in range(7):
            low, high = memory[7 + term], memory[14 + term]
            score += _WEIGHTS[term] * ((memory[term] - low) / (high - low) if high > low else 0.0)
        if score > highest:
            best, highest = index, score
    return best
