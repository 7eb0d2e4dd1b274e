"""Scale decisions carried out: instances of a function out and in, and their size up and down."""

from __future__ import annotations

from trimtab.sim.cpu import fill_cores, leave_core_queue, leave_cpu, schedule_next, share
from trimtab.sim.instances import (
    become_idle,
    become_ready,
    destroy,
    forget_creation,
    has_room,
    make_room,
    offer,
    start_instance,
    withdraw,
)
from trimtab.sim.kernel import entry, kernel, routine
from trimtab.sim.lists import expect_no_more, free_request
from trimtab.sim.meters import meter_function, meter_host, touch
from trimtab.sim.placing import choose_host
from trimtab.sim.records import (
    BY_HOST,
    CREATING,
    DRAINING,
    INITIALISING,
    NONE,
    READY,
    STARTING,
    WAITING_FOR_CORE,
    WAITING_TO_INIT,
)
from trimtab.sim.requests import blank_request, drain_host

_BY_HOST = BY_HOST
_CREATING, _WAITING_TO_INIT, _WAITING_FOR_CORE = CREATING, WAITING_TO_INIT, WAITING_FOR_CORE
_NONE, _READY, _STARTING, _DRAINING, _INITIALISING = NONE, READY, STARTING, DRAINING, INITIALISING


@entry
def set_instances(core, mind, choose, function_index, wanted):
    """Bring a function to ``wanted`` instances; returns how many could not be started for want of room.

    Below NONE: the policy that chooses a host answered badly.
    """
    function = core.functions[function_index]
    while function.ready + function.starting > wanted:
        if not stop_one(core, function_index):
            break
    missing = wanted - function.ready - function.starting
    while missing > 0:
        slot = blank_request(core, function_index)
        host = choose_host(core, mind, choose, slot)
        if host < 0:
            free_request(core, slot)
            return missing if host == _NONE else host
        start_instance(core, function_index, host, slot)
        missing -= 1
    return 0


@routine
def stop_one(core, function_index):
    """Stop one instance: one that is starting first, then an idle one, then drain a busy one."""
    function = core.functions[function_index]
    idle, busy = _NONE, _NONE
    index = function.first_instance
    while index != _NONE:
        instance = core.instances[index]
        if instance.state == _STARTING and core.active[instance.slot].id == _NONE:
            cancel_start(core, index)
            return True
        if instance.state == _READY:
            if instance.idle == 1:
                idle = index
            else:
                busy = index
        index = instance.function_next
    if idle != _NONE:
        destroy(core, idle)
        return True
    if busy == _NONE:
        return False
    drain(core, busy)
    return True


@kernel
def cancel_start(core, index):
    """An instance that nobody waits for is given up before it is ready."""
    instance = core.instances[index]
    slot = instance.slot
    request = core.active[slot]
    host_index = instance.host
    host = core.hosts[host_index]
    if request.phase == _INITIALISING:
        leave_cpu(core, slot)
        if core.world[0].fifo == 1:
            fill_cores(core, host)
    elif request.phase == _WAITING_FOR_CORE:
        leave_core_queue(core, host_index, slot)
    elif request.phase == _CREATING or request.phase == _WAITING_TO_INIT:
        expect_no_more(core, host, slot)
    forget_creation(core, host, index)
    free_request(core, slot)
    destroy(core, index)
    if core.world[0].dispatch == _BY_HOST:
        drain_host(core, host_index)


@kernel
def drain(core, index):
    """A busy instance takes no more requests, and goes when its last one ends."""
    instance = core.instances[index]
    function = core.functions[instance.function]
    meter_function(function, core.world[0].now)
    if instance.listed == 1:
        withdraw(core, index)
    instance.state = _DRAINING
    function.ready -= 1
    function.draining += 1


@entry
def set_cpu(core, function_index, cores):
    """Change the CPU of every instance of a function in place."""
    world = core.world[0]
    function = core.functions[function_index]
    function.cpu = cores
    index = function.first_instance
    while index != _NONE:
        instance = core.instances[index]
        instance.cpu = cores
        host = core.hosts[instance.host]
        if host.first != _NONE:
            meter_host(world, host)
            share(core, host)
            schedule_next(core, host)
        index = instance.function_next


@entry
def set_memory(core, function_index, memory):
    """Change the memory of every instance in place, where the host has room; returns how many changed."""
    world = core.world[0]
    function = core.functions[function_index]
    function.memory = memory
    changed = 0
    index = function.first_instance
    while index != _NONE:
        instance = core.instances[index]
        host = core.hosts[instance.host]
        more = memory - instance.memory
        # an idle instance is not worth evicting another for
        fits = host.memory_used + more <= host.memory if instance.idle == 1 else has_room(host, more)
        if more <= 0.0 or fits:
            meter_host(world, host)
            if instance.idle == 1 and world.on_demand == 1:
                host.memory_idle += more
            host.memory_used += more
            host.memory_free = host.memory - host.memory_used
            instance.memory = memory
            if more > 0.0 and instance.idle == 0:
                make_room(core, host, 0.0)
            touch(core, host)
            changed += 1
        index = instance.function_next
    world.freed = 1
    if world.dispatch == _BY_HOST:
        for index in range(world.hosts):
            drain_host(core, index)
    return changed


@entry
def ready_at_once(core, function_index):
    """Before a run begins: every instance of a function that is starting is up already."""
    index = core.functions[function_index].first_instance
    while index != _NONE:
        instance = core.instances[index]
        if instance.state == _STARTING:
            host = core.hosts[instance.host]
            expect_no_more(core, host, instance.slot)
            host.creating = _NONE
            host.create_head = _NONE
            host.create_tail = _NONE
            free_request(core, instance.slot)
            become_ready(core, index)
            offer(core, index)
            become_idle(core, index)
        index = instance.function_next
