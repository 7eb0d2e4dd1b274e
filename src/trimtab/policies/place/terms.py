"""The seven terms of static-rank for a host: more means freer or warmer."""

from __future__ import annotations

from trimtab.policies.view import fill_by_request
from trimtab.sim.kernel import kernel, routine
from trimtab.sim.meters import sample_host


@kernel
def fill_terms(world, host, request, pools, memory):
    """``memory[0:7]``: idle CPU, free memory, idle disk, idle network, minus load, warm, free slots."""
    sample_host(world, host)
    fill_by_request(world, host, request, pools)
    known = world.warm_all == 0  # whose the warm instances are
    reusable = request.memory if known and host.warm > 0 else 0.0  # one is room for its own function
    memory[0] = host.cores - host.cpu
    memory[1] = host.memory_free + reusable
    memory[2] = -host.disk_rate
    memory[3] = -host.network_rate
    memory[4] = -host.load_average
    memory[5] = host.warm if known else host.idle
    memory[6] = host.slots_free + reusable


@routine
def term_limits(world, hosts, request, pools, memory):
    """``memory[7:14]`` and ``memory[14:21]``: the lowest and highest of each term over all hosts."""
    for index in range(len(hosts)):
        fill_terms(world, hosts[index], request, pools, memory)
        for term in range(7):
            value = memory[term]
            if index == 0 or value < memory[7 + term]:
                memory[7 + term] = value
            if index == 0 or value > memory[14 + term]:
                memory[14 + term] = value
