"""What a placement policy sees of a host beyond its record: filled for a decision only when it is named."""

from __future__ import annotations

from trimtab.sim.kernel import kernel, routine
from trimtab.sim.records import INITIALISING, NONE, RUNNING

_NONE, _RUNNING, _INITIALISING = NONE, RUNNING, INITIALISING
_LEAST_LEFT = 0.1


@kernel
def fill_by_request(world, host, request, pools):
    """Instances of the requested function on the host, and the bytes that would have to be evicted."""
    pool = pools[host.index * world.functions + request.function]
    host.warm = pool.idle
    host.busy_same = pool.busy
    host.starting_same = pool.starting
    missing = host.memory_used + request.memory - host.memory
    host.would_evict = missing if pool.idle == 0 and missing > 0.0 else 0.0


@kernel
def fill_running(world, active, host, running):
    """The requests on a host, by expected work: running, about to, queued; returns how many there are.

    Expected, never true: the function's mean less what was done, at least a tenth of the mean.
    """
    count = fill_list(world, active, host, host.first, running, 0, 0)
    count = fill_list(world, active, host, host.pending, running, count, 0)
    return fill_list(world, active, host, host.queue_head, running, count, 1)


@kernel
def expected_left(world, host, request):
    """Core-seconds that a request still needs, from its function's means and what it has had."""
    if request.phase == _RUNNING:
        done = request.true_work - (request.finish - world.now) * request.rate * host.speed
        return max(request.work - max(done, 0.0), _LEAST_LEFT * request.work)
    if request.phase == _INITIALISING:
        return request.work + max((request.finish - world.now) * request.rate * host.speed, 0.0)
    return request.work + (request.init if request.cold == 1 else 0.0)


@routine
def fill_list(world, active, host, slot, running, count, queued):
    """Copy a list of requests to ``running`` from position ``count`` on."""
    while slot != _NONE and count < len(running):
        request = active[slot]
        entry = running[count]
        entry.expected = expected_left(world, host, request)
        entry.weight = request.weight
        entry.cap = min(request.cap, host.cores)
        entry.memory = request.memory
        entry.function = request.function
        entry.age = world.now - request.arrival
        entry.queued = queued
        count += 1
        slot = request.next
    return count
