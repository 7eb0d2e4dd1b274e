"""Expected completion times on one host, from mean work: shared by the rules that look ahead."""

from __future__ import annotations

from trimtab.sim.kernel import kernel, routine


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


@routine
def added_time(request, host, running, extra):
    """How much total completion time placing a request adds on a host, by draining it with mean work.

    Requests share the CPU by weight; at each step the one that ends first leaves. The sum of all completion
    times with the new request, less the sum without it.
    """
    count = len(running)
    return drain_sum(request, host, running, count, True, extra) - drain_sum(request, host, running, count, False, 0.0)


@routine
def drain_sum(request, host, running, count, with_new, extra):
    """Sum of the times until each request on the host ends; ``age`` of an entry is used as work left."""
    weight = 0.0
    for index in range(count):
        entry = running[index]
        entry.age = entry.expected
        weight += entry.weight
    new_left = request.work + extra
    new_open = with_new
    if with_new:
        weight += request.weight
    left, now, total = count + (1 if with_new else 0), 0.0, 0.0
    while left > 0:
        level = host.cores / weight
        step, which = 1e30, -1
        for index in range(count):
            entry = running[index]
            if entry.age > 0.0:
                needs = entry.age / (min(entry.cap, level * entry.weight) * host.speed)
                if needs < step:
                    step, which = needs, index
        if new_open:
            needs = new_left / (min(request.cap, level * request.weight) * host.speed)
            if needs < step:
                step, which = needs, count
        now += step
        for index in range(count):
            entry = running[index]
            if entry.age > 0.0 and index != which:
                entry.age = max(entry.age - step * min(entry.cap, level * entry.weight) * host.speed, 1e-12)
        if new_open and which != count:
            new_left = max(new_left - step * min(request.cap, level * request.weight) * host.speed, 1e-12)
        total += now
        left -= 1
        if which == count:
            new_open = False
            weight -= request.weight
        else:
            running[which].age = 0.0
            weight -= running[which].weight
    return total
