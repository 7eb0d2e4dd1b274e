"""A host's CPU: weighted max-min fair sharing with caps, or first-in-first-out for whole cores.

A running request is held as (finish, rate): the work that is left is (finish − now) · rate · speed. While
nobody's rate changes nothing has to be touched, and nothing drifts.
"""

from __future__ import annotations

import math

from trimtab.sim.heap import CPU_DONE, push
from trimtab.sim.kernel import kernel, routine
from trimtab.sim.meters import meter_function, meter_host, touch
from trimtab.sim.records import NONE, RUNNING, WAITING_FOR_CORE

_NONE, _CPU_DONE = NONE, CPU_DONE
_RUNNING, _WAITING = RUNNING, WAITING_FOR_CORE
_EPSILON = 1e-12


@kernel
def cap_of(core, request, host):
    """Cores that a request can use: its own parallelism, its share of the instance's limit, the host."""
    cap = min(request.cap, host.cores)
    if request.instance == _NONE:
        return cap
    instance = core.instances[request.instance]
    return min(cap, instance.cpu / max(instance.running, 1))


@kernel
def change_rate(core, request, rate, speed):
    """Give a request another rate; the work that it has left stays."""
    world = core.world[0]
    if rate == request.rate:
        return
    left = (request.finish - world.now) * request.rate * speed
    request.finish = world.now + left / (rate * speed)
    if world.meter_functions == 1:
        function = core.functions[request.function]
        meter_function(function, world.now)
        function.cpu_rate += rate - request.rate
    request.rate = rate


@routine
def share(core, host):
    """Weighted max-min fairness: each gets min(cap, level · weight), the level such that all is used.

    Requests whose cap is below their share are served first, and what they leave is shared by the rest.
    """
    demand, weight = 0.0, 0.0
    slot = host.first
    while slot != _NONE:
        request = core.active[slot]
        request.left = cap_of(core, request, host)
        demand += request.left
        weight += request.weight
        slot = request.next
    capacity = host.cores
    if demand <= capacity * (1.0 + _EPSILON):
        total = 0.0
        slot = host.first
        while slot != _NONE:
            request = core.active[slot]
            change_rate(core, request, request.left, host.speed)
            total += request.left
            slot = request.next
        host.rate = min(total, capacity)
        host.contended = 0
        return
    level = capacity / weight
    while True:  # every round settles at least one more capped request, or stops
        taken, open_weight = 0.0, 0.0
        slot = host.first
        while slot != _NONE:
            request = core.active[slot]
            if request.left <= level * request.weight:
                taken += request.left
            else:
                open_weight += request.weight
            slot = request.next
        if open_weight <= 0.0:
            break
        following = (capacity - taken) / open_weight
        if following <= level * (1.0 + _EPSILON):
            break
        level = following
    slot = host.first
    while slot != _NONE:
        request = core.active[slot]
        change_rate(core, request, min(request.left, level * request.weight), host.speed)
        slot = request.next
    host.rate = capacity
    host.contended = 1


@kernel
def schedule_next(core, host):
    """Find who finishes first and put that into the event queue, if it changed."""
    best, when = _NONE, math.inf
    slot = host.first
    while slot != _NONE:
        request = core.active[slot]
        if request.finish < when:
            best, when = slot, request.finish
        slot = request.next
    if best == host.next_slot and when == host.next_finish:
        return
    announce(core, host, best, when)


@kernel
def announce(core, host, slot, when):
    """Make ``slot`` the next to finish on this host."""
    host.next_slot = slot
    host.next_finish = when
    host.stamp += 1
    if slot != _NONE:
        push(core.world, core.heap, when, _CPU_DONE, host.index, host.stamp)


@kernel
def enter_cpu(core, slot, work):
    """A request begins to use the CPU of its host for ``work`` core-seconds."""
    world = core.world[0]
    request = core.active[slot]
    host = core.hosts[request.host]
    if world.fifo == 1 and host.running >= max(int(host.cores), 1):
        request.left = work
        request.owner = request.phase
        request.phase = _WAITING
        request.next = _NONE
        if host.core_tail == _NONE:
            host.core_head = slot
        else:
            core.active[host.core_tail].next = slot
        host.core_tail = slot
        return
    meter_host(world, host)
    request.previous = _NONE
    request.next = host.first
    if host.first != _NONE:
        core.active[host.first].previous = slot
    host.first = slot
    host.running += 1
    shared_instance = 0
    if request.instance != _NONE:
        instance = core.instances[request.instance]
        instance.running += 1
        shared_instance = instance.running - 1
    cap = cap_of(core, request, host)
    request.rate = cap
    request.finish = world.now + work / (cap * host.speed)
    if world.meter_functions == 1:
        function = core.functions[request.function]
        meter_function(function, world.now)
        function.cpu_rate += cap
    if host.contended == 0 and shared_instance == 0 and host.rate + cap <= host.cores * (1.0 + _EPSILON):
        host.rate = min(host.rate + cap, host.cores)
        if request.finish < host.next_finish or host.next_slot == _NONE:
            announce(core, host, slot, request.finish)
    else:
        share(core, host)
        schedule_next(core, host)
    touch(core, host)


@kernel
def leave_cpu(core, slot):
    """A request stops using the CPU; returns the core-seconds that it has left."""
    world = core.world[0]
    request = core.active[slot]
    host = core.hosts[request.host]
    meter_host(world, host)
    left = max((request.finish - world.now) * request.rate * host.speed, 0.0)
    if request.previous == _NONE:
        host.first = request.next
    else:
        core.active[request.previous].next = request.next
    if request.next != _NONE:
        core.active[request.next].previous = request.previous
    request.next = _NONE
    request.previous = _NONE
    host.running -= 1
    shared_instance = 0
    if request.instance != _NONE:
        instance = core.instances[request.instance]
        instance.running -= 1
        shared_instance = instance.running
    if world.meter_functions == 1:
        function = core.functions[request.function]
        meter_function(function, world.now)
        function.cpu_rate -= request.rate
    if host.first == _NONE:
        host.rate = 0.0
        host.contended = 0
    elif host.contended == 1 or shared_instance > 0:
        share(core, host)
    else:
        host.rate = max(host.rate - request.rate, 0.0)
    request.rate = 0.0
    schedule_next(core, host)
    touch(core, host)
    return left


@kernel
def next_for_core(core, host):
    """First-in-first-out: whoever waits longest gets the core that became free; NONE if nobody waits."""
    slot = host.core_head
    if slot == _NONE or host.running >= max(int(host.cores), 1):
        return _NONE
    request = core.active[slot]
    host.core_head = request.next
    if host.core_head == _NONE:
        host.core_tail = _NONE
    request.next = _NONE
    request.phase = request.owner
    return slot


@routine
def fill_cores(core, host):
    """First-in-first-out: somebody left the CPU before its end, and whoever waits longest takes its core."""
    while True:
        slot = next_for_core(core, host)
        if slot == _NONE:
            return
        enter_cpu(core, slot, core.active[slot].left)


@kernel
def leave_core_queue(core, host_index, slot):
    """Take a request out of the middle of the queue for a core."""
    host = core.hosts[host_index]
    before, here = _NONE, host.core_head
    while here != slot:
        before, here = here, core.active[here].next
    following = core.active[slot].next
    if before == _NONE:
        host.core_head = following
    else:
        core.active[before].next = following
    if host.core_tail == slot:
        host.core_tail = before
    core.active[slot].next = _NONE
