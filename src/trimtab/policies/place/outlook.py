"""What is to come on one host: its requests played to their end with mean work, stage by stage.

A request waits for memory, has its container created, initialises it on one core, works, and leaves its
container idle to the next of its function. Nothing that a scheduler could not know is used: work that was
done is seen, work that is left is expected.
"""

from __future__ import annotations

from trimtab.sim.kernel import kernel, routine
from trimtab.sim.records import CREATING, INITIALISING, NONE

_NONE, _INITIALISING, _CREATED_NOW = NONE, INITIALISING, CREATING

# stages of an entry, in their order; LEFT is a container that was left idle, TAKEN one that serves again
_QUEUED, _IN_TURN, _CREATING, _STARTING, _WORKING, _OFF, _LEFT, _TAKEN = range(8)
EXPONENTIAL, _CONSTANT = 0, 2
"""Distributions of work, as the engine numbers them."""
_LEAST_SPREAD = 0.05
QUEUED, WORKING = _QUEUED, _WORKING
LONGEST = 48
COPY = LONGEST + 1
"""Requests of a host that are looked at, the new one not counted: with more than these it is lost anyway."""


@routine
def added_time(world, host, request, functions, pools, active, room):
    """Completion time of a new request on a host, what it adds to the others', and how many these are."""
    function = functions[request.function]
    count = fill_outlook(world, active, host, functions, room)
    before = play(world, host, functions, pools, room, count)
    enter(room[count], host, function)
    room[count].stage = _QUEUED  # at the end of the queue; with nobody before it, it starts at once
    after = play(world, host, functions, pools, room, count + 1)
    own = room[COPY + count].age
    others = after - before - own
    # those that are too many to look at come first
    return own + max(host.inflight - count, 0) * function.work / (host.cores * host.speed), others, count


@kernel
def remaining(world, host, request, function):
    """Core-seconds of work that a running request still needs, given what it has had.

    One that has outlived its mean is expected to go on for about a deviation.
    """
    done = request.true_work - (request.finish - world.now) * request.rate * host.speed
    spread = min(max(function.deviation, _LEAST_SPREAD), 1.0)
    if function.distribution == EXPONENTIAL:
        spread = 1.0
    elif function.distribution == _CONSTANT:
        spread = _LEAST_SPREAD
    return max(function.work - max(done, 0.0), spread * function.work)


@routine
def fill_outlook(world, active, host, functions, room):
    """The requests on a host, in the order in which they will be served; returns how many."""
    count = 0
    slot = host.first
    while slot != _NONE and count < LONGEST:
        request, entry = active[slot], room[count]
        function = functions[request.function]
        enter(entry, host, function)
        if request.phase == _INITIALISING:
            entry.stage = _STARTING
            entry.left = max((request.finish - world.now) * request.rate * host.speed, 0.0)
        else:
            entry.stage = _WORKING
            entry.left = remaining(world, host, request, function)
        count += 1
        slot = request.next
    first = count
    slot = host.pending
    while slot != _NONE and count < LONGEST:
        request, entry = active[slot], room[count]
        function = functions[request.function]
        enter(entry, host, function)
        age = world.now - request.entered
        if request.phase == _CREATED_NOW:
            entry.stage = _CREATING
            entry.left = function.create - age if age < function.create else 0.5 * function.create
        else:
            entry.stage = _IN_TURN
            entry.left = function.create
        count += 1
        slot = request.next
    last = count - 1
    while first < last:  # the list has the newest first, turns are taken oldest first
        swap(room, first, last)
        first += 1
        last -= 1
    slot = host.queue_head
    while slot != _NONE and count < LONGEST:
        request, entry = active[slot], room[count]
        enter(entry, host, functions[request.function])
        entry.stage = _QUEUED
        count += 1
        slot = request.next
    return count


@kernel
def enter(entry, host, function):
    """What an entry takes over from its function."""
    entry.function = function.index
    entry.expected = function.work
    entry.weight = function.weight
    entry.cap = min(function.cap, host.cores)
    entry.memory = function.memory
    entry.queued = 0


@kernel
def swap(room, first, second):
    """Two entries whose containers are being created change places."""
    one, other = room[first], room[second]
    function, expected, weight, cap = one.function, one.expected, one.weight, one.cap
    memory, stage, left = one.memory, one.stage, one.left
    one.function, one.expected, one.weight, one.cap = other.function, other.expected, other.weight, other.cap
    one.memory, one.stage, one.left = other.memory, other.stage, other.left
    other.function, other.expected, other.weight, other.cap = function, expected, weight, cap
    other.memory, other.stage, other.left = memory, stage, left


@routine
def play(world, host, functions, pools, room, count):
    """Play the first ``count`` entries to their end; returns the sum of their completion times.

    The time of each is left in ``age`` of its copy, ``COPY`` places further on.
    """
    for index in range(count):
        source, entry = room[index], room[COPY + index]
        entry.function, entry.expected, entry.weight, entry.cap = (
            source.function, source.expected, source.weight, source.cap,
        )  # fmt: skip
        entry.memory, entry.stage, entry.left, entry.queued = source.memory, source.stage, source.left, 0
    entries = room[COPY : COPY + count]
    free = host.memory - host.memory_used + host.memory_idle
    now, total, open_entries = 0.0, 0.0, count
    changed = True
    while open_entries > 0:
        if changed:
            free = admit(world, host, functions, pools, entries, free)
        level = fair_level(host, entries)
        step, first = 1e300, -1
        for index in range(count):
            entry = entries[index]
            if entry.stage == _CREATING or entry.stage == _OFF:
                seconds = entry.left
            elif entry.stage == _STARTING:
                seconds = entry.left / (min(1.0, level * entry.weight) * host.speed)
            elif entry.stage == _WORKING:
                seconds = entry.left / (min(entry.cap, level * entry.weight) * host.speed)
            else:
                continue
            if seconds < step:
                step, first = seconds, index
        if first == -1:  # nothing can go on: the memory is held by what is not on any list
            return total + open_entries * (now + 1.0)
        for index in range(count):
            entry = entries[index]
            if entry.stage == _CREATING or entry.stage == _OFF:
                entry.left -= step
            elif entry.stage == _STARTING:
                entry.left -= step * min(1.0, level * entry.weight) * host.speed
            elif entry.stage == _WORKING:
                entry.left -= step * min(entry.cap, level * entry.weight) * host.speed
        now += step
        changed = False
        entry = entries[first]
        function = functions[entry.function]
        if entry.stage == _CREATING:
            entry.stage = _STARTING
            entry.left = function.init
            changed = world.serial_creation == 1
        elif entry.stage == _STARTING:
            entry.stage = _WORKING
            entry.left = entry.expected
        elif entry.stage == _WORKING and function.off_cpu > 0.0:
            entry.stage = _OFF
            entry.left = function.off_cpu
        else:
            entry.stage = _LEFT
            entry.age = now
            free += entry.memory
            total += now
            open_entries -= 1
            changed = True
    return total


@routine
def admit(world, host, functions, pools, entries, free):
    """Start what can start: the head of the queue as long as it can, the next creation in turn."""
    for index in range(len(entries)):
        entry = entries[index]
        if entry.stage != _QUEUED:
            continue
        warm = take_idle(world, host, pools, entries, entry)
        if not warm and entry.memory > free:
            break
        free -= entry.memory
        if warm:
            entry.stage = _WORKING
            entry.left = entry.expected
        else:
            entry.stage = _IN_TURN
            entry.left = functions[entry.function].create
    creating = False
    if world.serial_creation == 1:
        for index in range(len(entries)):
            creating = creating or entries[index].stage == _CREATING
    for index in range(len(entries)):
        entry = entries[index]
        if entry.stage == _IN_TURN and not creating:
            entry.stage = _CREATING
            creating = world.serial_creation == 1
    return free


@kernel
def take_idle(world, host, pools, entries, wanted):
    """Whether an idle container of its function is there: one left by another request, or idle from the start."""
    idle = pools[host.index * world.functions + wanted.function].idle
    for index in range(len(entries)):
        entry = entries[index]
        if entry.function != wanted.function:
            continue
        if entry.stage == _LEFT:
            entry.stage = _TAKEN
            return True
        idle -= entry.queued
    if idle > 0:
        wanted.queued = 1  # it took one of those
        return True
    return False


@kernel
def fair_level(host, entries):
    """Weighted max-min fairness: the share of a weight of 1, such that all cores are used."""
    weight, demand = 0.0, 0.0
    for index in range(len(entries)):
        entry = entries[index]
        if entry.stage == _WORKING:
            weight += entry.weight
            demand += entry.cap
        elif entry.stage == _STARTING:
            weight += entry.weight
            demand += 1.0
    if demand <= host.cores:
        return 1e9
    level = host.cores / weight
    while True:
        taken, open_weight = 0.0, 0.0
        for index in range(len(entries)):
            entry = entries[index]
            if entry.stage != _WORKING and entry.stage != _STARTING:
                continue
            cap = entry.cap if entry.stage == _WORKING else 1.0
            if cap <= level * entry.weight:
                taken += cap
            else:
                open_weight += entry.weight
        if open_weight <= 0.0:
            return level
        following = (host.cores - taken) / open_weight
        if following <= level * (1.0 + 1e-12):
            return level
        level = following
