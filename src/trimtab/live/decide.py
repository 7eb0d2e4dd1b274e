"""The compiled part of a live decision: news of the real world into the engine's records, then its own question.

News come as one row of numbers, because writing records field by field from Python took longer than the decision:
time, calls, calls that wait, then the call to be placed (slot, id, function, memory), then each server that changed.
"""

from __future__ import annotations

from trimtab.policies.place.outlook import added_time
from trimtab.sim.kernel import entry, kernel, routine
from trimtab.sim.placing import choose_host, is_feasible
from trimtab.sim.records import DOWN, IN_TRANSIT, INITIALISING, NONE, ON
from trimtab.sim.requests import copy_function

_NONE, _IN_TRANSIT, _INITIALISING, _ON, _DOWN = NONE, IN_TRANSIT, INITIALISING, ON, DOWN
HEAD, SERVER, POOL, CALL, FUNCTION = 8, 11, 4, 5, 3
"""Numbers of each part: before the servers, a server's own, an instance pool's, a call's, a function's."""


@routine
def read_news(core, news):
    """Write a row of news into the records."""
    world = core.world[0]
    world.now, world.inflight, world.queued = news[0], int(news[1]), int(news[2])
    place = HEAD
    for _ in range(int(news[7])):
        function = core.functions[int(news[place])]
        function.inflight, function.instances = int(news[place + 1]), int(news[place + 2])
        place += FUNCTION
    servers = int(news[place])
    place += 1
    for _ in range(servers):
        place = read_server(core, news, place)
    arrive(core, int(news[3]), int(news[4]), int(news[5]), news[6])


@kernel
def arrive(core, slot, identity, function_index, memory):
    """The record of the call that is to be placed, or of a start that no call waits for."""
    world = core.world[0]
    request, function = core.active[slot], core.functions[function_index]
    copy_function(request, function)
    request.id, request.memory, request.true_work = identity, memory, function.work
    request.arrival = request.entered = world.now
    request.deadline = world.now + function.deadline
    request.phase, request.host, request.instance = _IN_TRANSIT, _NONE, _NONE
    request.next = request.previous = request.stream = request.owner = request.target = _NONE
    request.rate = request.left = request.finish = 0.0
    request.cold = request.stage = 0


@routine
def read_server(core, news, place):
    """One server: counters, instances by function, and its calls that run, start and wait; returns where it ends."""
    world, host = core.world[0], core.hosts[int(news[place])]
    host.state = _ON if news[place + 1] > 0.0 else _DOWN
    host.inflight, host.queued = int(news[place + 2]), int(news[place + 3])
    host.memory_used, host.memory_idle, host.slots_free = news[place + 4], news[place + 5], news[place + 6]
    host.memory_free = host.memory - host.memory_used
    host.cold_starts = int(news[place + 7])
    host.starting = host.busy = host.idle = host.running = 0
    host.first = host.pending = host.queue_head = _NONE
    first = host.index * world.functions
    for index in range(world.functions):
        pool = core.pools[first + index]
        pool.idle = pool.busy = pool.starting = 0
    pools, calls = int(news[place + 8]), int(news[place + 9])
    share = min(1.0, host.cores / max(news[place + 10], 1.0))
    place += SERVER
    for _ in range(pools):
        pool = core.pools[first + int(news[place])]
        pool.idle, pool.busy, pool.starting = int(news[place + 1]), int(news[place + 2]), int(news[place + 3])
        host.idle += pool.idle
        host.busy += pool.busy
        host.starting += pool.starting
        place += POOL
    for _ in range(calls):  # the last of each list come first, so that each is put in front
        read_call(core, host, news, place, share)
        place += CALL
    return place


@kernel
def read_call(core, host, news, place, share):
    """One call: slot, list (0 runs, 1 starts, 2 waits), phase, when it entered it, core-seconds that it has had."""
    world, slot = core.world[0], int(news[place])
    request = core.active[slot]
    request.host, request.phase, request.entered = host.index, int(news[place + 2]), news[place + 3]
    request.rate = 0.0
    if news[place + 1] == 0.0:
        request.rate = min(request.cap, share)
        left = request.init if request.phase == _INITIALISING else request.work - news[place + 4]
        request.finish = world.now + left / (request.rate * host.speed)
        request.next = host.first
        host.first = slot
        host.running += 1
    elif news[place + 1] == 1.0:
        request.next = host.pending
        host.pending = slot
        request.cold = 1
    else:
        request.next = host.queue_head
        host.queue_head = slot


@kernel
def freshen(core):
    """Every score is to be computed anew: news have changed the hosts behind the engine's back.

    So is a tournament of hosts: its tree is a policy's own, and another one may have decided last.
    """
    world = core.world[0]
    world.tree_ready = 0
    world.dirty_count = world.hosts
    for index in range(world.hosts):
        core.hosts[index].dirty = 1
        core.dirty[index] = index


@entry
def decide(core, mind, choose, slot, news, fresh, feasible):
    """The policy's host for the call in ``slot``; below zero: none will do, or the answer is bad."""
    if fresh:
        read_news(core, news)
    freshen(core)
    request = core.active[slot]
    for index in range(core.world[0].hosts):
        feasible[index] = is_feasible(core.world[0], core.hosts[index], request, _NONE)
    return choose_host(core, mind, choose, slot)


@entry
def foresee(core, mind, slot, index):
    """Seconds that a call would add on a host: its own, and what others wait longer."""
    own, others, _ = added_time(
        core.world[0], core.hosts[index], core.active[slot], core.functions, core.pools, core.active, mind.running
    )
    return own + others
