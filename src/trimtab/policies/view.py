"""What a placement policy sees of a host beyond its record: filled for a decision only when it is named."""

from __future__ import annotations

from trimtab.sim.kernel import kernel
from trimtab.sim.records import INITIALISING, NONE, RUNNING

_NONE, _RUNNING, _INITIALISING = NONE, RUNNING, INITIALISING
_LEAST_LEFT = 0.1


@kernel
def fill_by_request(world, host, request, pools):
    """Instances of the requested function on the host, and the bytes that would have to be evicted."""
    pool = pools[host.index * world.functions + request.function]
    host.warm = host.idle if world.warm_all == 1 else pool.idle
    host.busy_same = pool.busy
    host.starting_same = pool.starting
    missing = host.memory_used + request.memory - host.memory
    host.would_evict = missing if pool.idle == 0 and missing > 0.0 else 0.0


@kernel
def fill_running(world, active, host, running):
    """The requests on a host's CPU and in its queue, by expected work; returns how many there are.

    Expected, never true: the function's mean less what was done, at least a tenth of the mean.
    """
    count = 0
    slot = host.first
    while slot != _NONE and count < len(running):
        request = active[slot]
        entry = running[count]
        whole = request.init + request.work if request.phase == _INITIALISING else request.work
        done = max(request.true_work - (request.finish - world.now) * request.rate * host.speed, 0.0)
        if request.phase == _INITIALISING:
            done = max(request.init - (request.finish - world.now) * request.rate * host.speed, 0.0)
        entry.expected = max(whole - done, _LEAST_LEFT * whole)
        entry.weight = request.weight
        entry.cap = request.cap
        entry.function = request.function
        entry.age = world.now - request.arrival
        entry.phase = request.phase
        count += 1
        slot = request.next
    slot = host.queue_head
    while slot != _NONE and count < len(running):
        request = active[slot]
        entry = running[count]
        entry.expected = request.work
        entry.weight = request.weight
        entry.cap = request.cap
        entry.function = request.function
        entry.age = world.now - request.arrival
        entry.phase = request.phase
        count += 1
        slot = request.next
    return count
