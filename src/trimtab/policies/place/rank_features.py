"""What ``rank`` sees of a host: costs in seconds, so that one policy fits any time scale.

A linear score over costs in seconds chooses the same host when all times are doubled. What is learned on
the way (rates of functions, how long idle containers last) is in the policy's own memory.
"""

from __future__ import annotations

import math

from trimtab.policies.place.outlook import EXPONENTIAL, QUEUED, WORKING, added_time
from trimtab.sim.kernel import kernel, routine

COSTS = (
    "own",  # until the request itself is done
    "others",  # what it adds to the others on the host
    "cold",  # the start of a container, where none is warm
    "blocked",  # own, where it has to wait for memory
    "evicted",  # cold starts of the idle containers that it evicts
    "reuse",  # those likely to be called before they would have been evicted anyway
    "fresh",  # cold, where another container of this function is likely to be needed
    "visitors",  # what it adds to those who are likely to come for an idle container on the host
    "backlog",  # work on the host over its capacity
    "cross",  # backlog times work of the request, over the usual backlog
    "memory",  # share of memory that would be in use, times a typical completion time
    "idle",  # share of memory in idle containers, times a typical completion time
    "starts",  # containers that are being created
    "same",  # cold starts of busy and starting containers of this function
)
"""Seconds each."""
BY_LOAD = ("cold", "reuse", "backlog")
BY_SIZE = ("others", "cold", "backlog")
BY_SHARE = ("own", "cold", "reuse", "backlog", "memory", "idle")
FEATURES = (
    *COSTS,
    *(f"{name}*load" for name in BY_LOAD),
    *(f"{name}*size" for name in BY_SIZE),
    *(f"{name}*share" for name in BY_SHARE),
)
"""Costs, and some of them again by the cluster's load, by the size of the request, and by the share of a host's
cores that it can use: where that is all of them, requests slow each other down."""

COUNT = len(FEATURES)
_COSTS, _BY_LOAD, _BY_SIZE = len(COSTS), len(BY_LOAD), len(BY_SIZE)
_LOADED = tuple(COSTS.index(name) for name in BY_LOAD)
_SIZED = tuple(COSTS.index(name) for name in BY_SIZE)
_SHARED = tuple(COSTS.index(name) for name in BY_SHARE)
(_OWN, _OTHERS, _COLD, _BLOCKED, _EVICTED, _REUSE, _FRESH, _VISITORS, _BACKLOG, _CROSS, _MEMORY, _IDLE, _STARTS,
 _SAME) = range(_COSTS)  # fmt: skip
OWN, OTHERS = _OWN, _OTHERS

# the policy's memory: a few scalars, the features of one host, tables by function and by host and function
TYPICAL, USUAL, HORIZON, VICTIM = 0, 1, 2, 3
VALUES = 16
_LAST = 64
_FUNCTIONS = 4096
_GAP = _LAST + _FUNCTIONS
_USED = _GAP + _FUNCTIONS
_PAIRS = 32768
LENGTH = _USED + _PAIRS
"""Functions, and pairs of host and function, beyond these share places: estimates blur, nothing breaks."""

_OF_GAPS, _OF_TIMES, _OF_AGES = 0.2, 0.05, 0.1
"""Weight of the newest observation in each mean."""
_NEVER = 1e-9
"""Time zero is a time; zero in the memory is "not seen"."""


@kernel
def note_arrival(memory, function, now):
    """The mean gap between calls of a function, over its last few."""
    place = function % _FUNCTIONS
    if memory[_LAST + place] > 0.0:
        gap = now - memory[_LAST + place] + _NEVER
        before = memory[_GAP + place]
        memory[_GAP + place] = gap if before == 0.0 else before + _OF_GAPS * (gap - before)
    memory[_LAST + place] = now + _NEVER


@kernel
def note_placement(world, request, memory, host_index, own, backlog, victim):
    """After a decision: when the container was used, and what is usual."""
    memory[_USED + (host_index * world.functions + request.function) % _PAIRS] = world.now + own
    memory[TYPICAL] += _OF_TIMES * (own - memory[TYPICAL])
    memory[USUAL] += _OF_AGES * (backlog - memory[USUAL])
    if victim > 0.0:
        age = max(world.now - victim, 0.0)
        memory[HORIZON] = age if memory[HORIZON] == 0.0 else memory[HORIZON] + _OF_AGES * (age - memory[HORIZON])


@kernel
def rate_of(memory, function, now):
    """Calls a second of a function; less when none came for long."""
    place = function % _FUNCTIONS
    if memory[_LAST + place] == 0.0:
        return 0.0
    since = now - memory[_LAST + place]
    usual = memory[_GAP + place] if memory[_GAP + place] > 0.0 else memory[TYPICAL]
    return 1.0 / max(usual, since, _NEVER)


@kernel
def need_of(memory, function, now, horizon, more):
    """Chance that a container is used within ``horizon``, when its function has ``more`` idle ones than now."""
    spare = max(function.instances - function.inflight + more, 0)
    return 1.0 - math.exp(-rate_of(memory, function.index, now) * horizon / (1.0 + spare))


@kernel
def cold_of(function, host):
    """Seconds of a cold start on a host with nothing else to do."""
    return function.create + function.init / (host.speed * min(1.0, host.cores)) + function.init_off_cpu


@kernel
def share_of(function, host):
    """Of a host's cores, the share that one request can use."""
    return min(function.cap, host.cores) / host.cores


@kernel
def spread_of(function, host):
    """Seconds that a request may well take longer than the mean of its function."""
    spread = 1.0 if function.distribution == EXPONENTIAL else function.deviation
    return spread * function.work / (min(function.cap, host.cores) * host.speed)


@routine
def note_evictions(world, host, request, functions, pools, memory):
    """Who would be evicted for a new container: the least recently used, as far as placements tell."""
    values = memory[VALUES : VALUES + COUNT]
    missing = host.memory_used + request.memory - host.memory
    first = host.index * world.functions
    horizon = memory[HORIZON] if memory[HORIZON] > 0.0 else world.now
    before = -1.0
    while missing > 0.0:
        oldest, victim = math.inf, -1
        for index in range(world.functions):
            if pools[first + index].idle > 0:
                used = memory[_USED + (first + index) % _PAIRS]
                if before < used < oldest:
                    oldest, victim = used, index
        if victim == -1:
            return
        if before < 0.0:
            memory[VICTIM] = oldest
        before = oldest
        function = functions[victim]
        cold = cold_of(function, host)
        reuse = need_of(memory, function, world.now, horizon, -1)
        idle = pools[first + victim].idle
        while idle > 0 and missing > 0.0:
            values[_EVICTED] += cold
            values[_REUSE] += cold * reuse
            missing -= function.memory
            idle -= 1


@routine
def visits(world, host, functions, pools, memory):
    """Calls a second that are likely to come for the idle containers of a host."""
    first, found, rate = host.index * world.functions, 0, 0.0
    for index in range(min(world.functions, _FUNCTIONS)):
        if found == host.idle:
            break
        idle = pools[first + index].idle
        if idle > 0:
            found += idle
            function = functions[index]
            spare = max(function.instances - function.inflight, 1)
            rate += rate_of(memory, index, world.now) * min(idle / spare, 1.0)
    return rate


@routine
def look(world, host, request, functions, pools, active, memory, room):
    """Fill ``memory[VALUES:]`` with the features of a host; returns its backlog in seconds."""
    values = memory[VALUES : VALUES + COUNT]
    function = functions[request.function]
    pool = pools[host.index * world.functions + request.function]
    values[_OWN], values[_OTHERS], count = added_time(world, host, request, functions, pools, active, room)
    work, starts = 0.0, 0.0
    for index in range(count):
        entry = room[index]
        work += entry.left if entry.stage == WORKING else entry.expected
        if entry.stage != WORKING and entry.stage != QUEUED:
            starts += functions[entry.function].create
    capacity = host.cores * host.speed
    backlog, mine = work / capacity, function.work / capacity
    alone = function.work / (min(function.cap, host.cores) * host.speed) + function.off_cpu
    held = (host.memory_used - host.memory_idle + request.memory) / host.memory
    cold = 0.0 if pool.idle > 0 else cold_of(function, host)
    values[_COLD] = cold
    values[_BLOCKED] = values[_OWN] if host.queued > 0 or (pool.idle == 0 and held > 1.0) else 0.0
    values[_EVICTED] = values[_REUSE] = memory[VICTIM] = 0.0
    if host.would_evict > 0.0:
        note_evictions(world, host, request, functions, pools, memory)
    values[_FRESH] = cold * need_of(memory, function, world.now, memory[TYPICAL], 1)
    values[_VISITORS] = mine * (1.0 - math.exp(-visits(world, host, functions, pools, memory) * values[_OWN]))
    values[_BACKLOG] = backlog
    values[_CROSS] = backlog * mine / (memory[USUAL] + mine + _NEVER)
    values[_MEMORY] = held * memory[TYPICAL]
    values[_STARTS] = starts
    values[_IDLE] = host.memory_idle / host.memory * memory[TYPICAL]
    values[_SAME] = (pool.busy + pool.starting) * cold_of(function, host)
    load = world.inflight / (world.inflight + 2.0 * world.hosts) - 0.5
    size = alone / (alone + memory[TYPICAL] + _NEVER) - 0.5
    for position in range(_BY_LOAD):
        values[_COSTS + position] = values[_LOADED[position]] * load
    share = share_of(function, host) - 0.5
    for position in range(_BY_SIZE):
        values[_COSTS + _BY_LOAD + position] = values[_SIZED[position]] * size
    for position in range(len(_SHARED)):
        values[_COSTS + _BY_LOAD + _BY_SIZE + position] = values[_SHARED[position]] * share
    return backlog
