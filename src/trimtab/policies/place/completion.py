"""Expected completion times on one host, from mean work: shared by the rules that look ahead."""

from __future__ import annotations

from trimtab.sim.kernel import kernel, routine

_WAITING, _OPEN, _DONE = 0, 1, 2
_EVICTION = 1.0
"""Seconds: what losing somebody's warm instance is reckoned at, about half a cold start."""


@kernel
def shared_rate(request, host, running):
    """Work per second that a new request would get now: its weighted share, at most its cap."""
    weight = request.weight
    for index in range(len(running)):
        weight += running[index].weight
    return min(request.cap, host.cores * request.weight / weight) * host.speed


@kernel
def cold_seconds(request, host):
    """Seconds until an instance is ready: none if one is warm."""
    if host.warm > 0:
        return 0.0
    return request.create + request.init / host.speed


@kernel
def tie_break(host):
    """Hosts that are alike in expected time are not alike: spread, and keep others' warm instances."""
    return 1e-3 * host.inflight + (_EVICTION if host.would_evict > 0.0 else 0.0)


@routine
def added_time(request, host, running):
    """Total completion time that a request adds on a host: its own, and what it costs the others.

    ``running`` must have room for one more entry behind its end: the new request.
    """
    count = len(running) - 1
    new = running[count]
    new.expected = request.work + (request.init if host.warm == 0 else 0.0)
    new.weight, new.cap, new.memory = request.weight, min(request.cap, host.cores), request.memory
    new.queued = 0 if host.warm > 0 else 1
    return drain(host, running, count + 1) - drain(host, running, count)


@routine
def drain(host, running, count):
    """Sum of the times until each of the first ``count`` requests on the host ends.

    They share the CPU by weight. At each step the one that ends first leaves, and the queue, strictly in
    order, takes the memory that it held.
    """
    free = host.memory - host.memory_used + host.memory_idle
    weight = 0.0
    for index in range(count):
        entry = running[index]
        entry.left = entry.expected
        entry.stage = _WAITING if entry.queued == 1 else _OPEN
        if entry.queued == 0:
            weight += entry.weight
    now, total = 0.0, 0.0
    for _ in range(count):
        for index in range(count):  # let the head of the queue in, as long as it fits
            entry = running[index]
            if entry.stage == _WAITING:
                if entry.memory > free and weight > 0.0:
                    break
                free -= entry.memory
                entry.stage = _OPEN
                weight += entry.weight
        level = host.cores / weight
        step, first = 1e300, 0
        for index in range(count):
            entry = running[index]
            if entry.stage == _OPEN:
                seconds = entry.left / (min(entry.cap, level * entry.weight) * host.speed)
                if seconds < step:
                    step, first = seconds, index
        for index in range(count):
            entry = running[index]
            if entry.stage == _OPEN:
                entry.left = max(entry.left - step * min(entry.cap, level * entry.weight) * host.speed, 0.0)
        now += step
        total += now
        ended = running[first]
        ended.stage = _DONE
        weight -= ended.weight
        free += ended.memory
    return total
