"""Instances of functions: they start cold, serve, idle, are evicted or expire."""

from __future__ import annotations

import math

from trimtab.sim.cpu import enter_cpu
from trimtab.sim.heap import BATCH_DONE, DELAY_DONE, PREWARM, push, push_timer
from trimtab.sim.kernel import kernel, routine
from trimtab.sim.lists import (
    enrol,
    expect_no_more,
    expect_on_host,
    forget_idle,
    list_back,
    list_front,
    remember_idle,
    strike,
    unlist,
)
from trimtab.sim.meters import meter_function, meter_host, meter_world, touch
from trimtab.sim.records import (
    BY_HOST,
    CREATING,
    DRAINING,
    FREE,
    IN_BATCH,
    INIT_OFF_CPU,
    INITIALISING,
    NONE,
    OFF_CPU,
    READY,
    RUNNING,
    STARTING,
    WAITING_TO_INIT,
)

_NONE, _BY_HOST = NONE, BY_HOST
_FREE, _STARTING, _READY, _DRAINING = FREE, STARTING, READY, DRAINING
_CREATING, _WAITING_TO_INIT, _INITIALISING, _INIT_OFF_CPU = (
    CREATING,
    WAITING_TO_INIT,
    INITIALISING,
    INIT_OFF_CPU,
)
_RUNNING, _OFF_CPU, _IN_BATCH = RUNNING, OFF_CPU, IN_BATCH
_DELAY_DONE, _PREWARM, _BATCH_DONE = DELAY_DONE, PREWARM, BATCH_DONE


@kernel
def pool_of(core, host_index, function_index):
    """The pool record of a function on a host."""
    return core.pools[host_index * core.world[0].functions + function_index]


@kernel
def has_room(host, memory):
    """Whether a new instance fits, if idle ones are evicted."""
    return host.memory_used - host.memory_idle + memory <= host.memory


@kernel
def offer(core, index):
    """Enter an instance that can take a request in the list where requests look for one."""
    instance = core.instances[index]
    if core.world[0].dispatch == _BY_HOST:
        list_front(core, pool_of(core, instance.host, instance.function), index)
    elif core.functions[instance.function].concurrency > 1:
        list_back(core, core.functions[instance.function], index)  # spread over instances
    else:
        list_front(core, core.functions[instance.function], index)  # the warmest first


@kernel
def withdraw(core, index):
    """Take an instance out of that list."""
    instance = core.instances[index]
    if core.world[0].dispatch == _BY_HOST:
        unlist(core, pool_of(core, instance.host, instance.function), index)
    else:
        unlist(core, core.functions[instance.function], index)


@kernel
def become_idle(core, index):
    """An instance has nothing to do: it can be evicted, and its keep-alive time runs."""
    world = core.world[0]
    instance = core.instances[index]
    host = core.hosts[instance.host]
    function = core.functions[instance.function]
    meter_world(world)
    world.freed = 1
    instance.idle = 1
    instance.idle_since = world.now
    world.idle += 1
    host.idle += 1
    host.busy -= 1
    if world.on_demand == 1:  # what a control loop asked for is not evicted
        host.memory_idle += instance.memory
    if world.pools_wanted == 1:
        pool = pool_of(core, instance.host, instance.function)
        pool.idle += 1
        pool.busy -= 1
    remember_idle(core, host, index)
    touch(core, host)
    if world.on_demand == 1:
        before = instance.expires
        instance.expires = world.now + function.keep_alive
        shortened = instance.expires < before
        if (instance.timer == 0 or shortened) and instance.expires < math.inf:
            instance.timer = 1
            push_timer(core.world, core.timers, instance.expires, index, instance.stamp)


@kernel
def cease_idle(core, index):
    """An idle instance gets work, or goes away."""
    world = core.world[0]
    instance = core.instances[index]
    host = core.hosts[instance.host]
    meter_world(world)
    instance.idle = 0
    world.idle -= 1
    host.idle -= 1
    host.busy += 1
    if world.on_demand == 1:
        host.memory_idle -= instance.memory
    if world.pools_wanted == 1:
        pool = pool_of(core, instance.host, instance.function)
        pool.idle -= 1
        pool.busy += 1
    forget_idle(core, host, index)


@routine
def destroy(core, index):
    """Remove an instance that serves nobody; its memory is free at once."""
    world = core.world[0]
    instance = core.instances[index]
    host = core.hosts[instance.host]
    function = core.functions[instance.function]
    pool = pool_of(core, instance.host, instance.function)
    meter_world(world)
    meter_host(world, host)
    meter_function(function, world.now)
    if instance.listed == 1:
        withdraw(core, index)
    if instance.idle == 1:
        cease_idle(core, index)
    if instance.state == _STARTING:
        host.starting -= 1
        pool.starting -= 1
        function.starting -= 1
        world.starting -= 1
    else:
        host.busy -= 1
        pool.busy -= 1
        if instance.state == _DRAINING:
            function.draining -= 1
        else:
            function.ready -= 1
    host.memory_used -= instance.memory
    host.memory_free = host.memory - host.memory_used
    world.freed = 1
    world.instances -= 1
    world.stops += 1
    function.instances -= 1
    strike(core, index)
    instance.state = _FREE
    instance.stamp += 1
    instance.next = world.free_instance
    world.free_instance = index
    touch(core, host)


@kernel
def make_room(core, host, memory):
    """Evict idle instances, least recently used first, until ``memory`` fits."""
    while host.memory_used + memory > host.memory and host.lru_head != _NONE:
        core.world[0].evictions += 1
        destroy(core, host.lru_head)


@routine
def start_instance(core, function_index, host_index, slot):
    """Start an instance on a host with room; ``slot`` carries the start through its phases.

    It is the request that waits for the instance, or a blank one that belongs to nobody.
    """
    world = core.world[0]
    host = core.hosts[host_index]
    function = core.functions[function_index]
    make_room(core, host, function.memory)
    meter_world(world)
    meter_host(world, host)
    meter_function(function, world.now)
    index = world.free_instance
    instance = core.instances[index]
    world.free_instance = instance.next
    bound = core.active[slot].id != _NONE
    request = core.active[slot]
    request.host = host_index
    request.instance = index
    instance.function = function_index
    instance.host = host_index
    instance.state = _STARTING
    instance.inflight = 1 if bound else 0
    instance.running = 0
    instance.listed = 0
    instance.idle = 0
    instance.timer = 0
    instance.cpu = function.cpu
    instance.memory = function.memory
    instance.slot = slot
    instance.create_next = _NONE
    instance.first = _NONE
    host.memory_used += function.memory
    host.memory_free = host.memory - host.memory_used
    host.starting += 1
    world.starting += 1
    world.instances += 1
    world.starts += 1
    function.instances += 1
    function.starting += 1
    pool_of(core, host_index, function_index).starting += 1
    enrol(core, index)
    expect_on_host(core, host, slot)
    touch(core, host)
    queue_creation(core, host, index)
    return index


@kernel
def queue_creation(core, host, index):
    """Begin to create the container, or wait for the one that is being created on this host."""
    world = core.world[0]
    instance = core.instances[index]
    request = core.active[instance.slot]
    if world.serial_creation == 1 and host.creating != _NONE:
        request.phase = _WAITING_TO_INIT
        if host.create_tail == _NONE:
            host.create_head = index
        else:
            core.instances[host.create_tail].create_next = index
        host.create_tail = index
        return
    host.creating = index
    begin_creation(core, index)


@kernel
def begin_creation(core, index):
    """The container is made for ``create`` seconds, without the CPU."""
    instance = core.instances[index]
    request = core.active[instance.slot]
    request.phase = _CREATING
    when = core.world[0].now + core.functions[instance.function].create
    push(core.world, core.heap, when, _DELAY_DONE, instance.slot, request.stamp)


@kernel
def created(core, slot):
    """The container is there: let the next one be made, and initialise this one on the CPU."""
    request = core.active[slot]
    host = core.hosts[request.host]
    function = core.functions[request.function]
    expect_no_more(core, host, slot)
    if core.world[0].serial_creation == 1:
        forget_creation(core, host, request.instance)
    if function.init > 0.0:
        request.phase = _INITIALISING
        request.cap = 1.0
        request.weight = function.weight
        enter_cpu(core, slot, function.init)
    else:
        initialised(core, slot)


@kernel
def initialised(core, slot):
    """CPU work of the initialisation is done; the rest of it passes off the CPU."""
    request = core.active[slot]
    request.phase = _INIT_OFF_CPU
    when = core.world[0].now + core.functions[request.function].init_off_cpu
    push(core.world, core.heap, when, _DELAY_DONE, slot, request.stamp)


@kernel
def become_ready(core, index):
    """An instance has started; what it then does is up to the caller."""
    world = core.world[0]
    instance = core.instances[index]
    host = core.hosts[instance.host]
    function = core.functions[instance.function]
    pool = pool_of(core, instance.host, instance.function)
    meter_function(function, world.now)
    instance.state = _READY
    instance.slot = _NONE
    host.starting -= 1
    host.busy += 1
    world.starting -= 1
    function.starting -= 1
    function.ready += 1
    pool.starting -= 1
    pool.busy += 1
    touch(core, host)


@kernel
def execute(core, slot):
    """A request begins to execute on its instance."""
    world = core.world[0]
    request = core.active[slot]
    function = core.functions[request.function]
    request.begun = world.now
    request.phase = _RUNNING
    request.cap = function.cap
    if request.id >= 0 and request.stage == 0:
        core.results[request.id].start = world.now
    if request.true_work > 0.0:
        enter_cpu(core, slot, request.true_work)
    else:
        wait_off_cpu(core, slot)


@kernel
def wait_off_cpu(core, slot):
    """The part of an execution that uses no core."""
    request = core.active[slot]
    request.phase = _OFF_CPU
    push(core.world, core.heap, core.world[0].now + request.off_cpu, _DELAY_DONE, slot, request.stamp)


@kernel
def join(core, slot, index):
    """A request takes a place in a ready instance and begins."""
    request = core.active[slot]
    instance = core.instances[index]
    host = core.hosts[instance.host]
    if instance.idle == 1:
        cease_idle(core, index)
    instance.inflight += 1
    limit = core.functions[instance.function].concurrency
    if instance.inflight >= limit:
        withdraw(core, index)
    elif core.world[0].dispatch != _BY_HOST:
        withdraw(core, index)  # to the back: the next request goes to another instance
        offer(core, index)
    request.instance = index
    request.host = instance.host
    touch(core, host)
    execute(core, slot)


@kernel
def leave(core, slot):
    """A request gives its place in the instance back; a draining instance goes with its last one."""
    request = core.active[slot]
    index = request.instance
    request.instance = _NONE
    instance = core.instances[index]
    instance.inflight -= 1
    if instance.state == _DRAINING:
        if instance.inflight == 0:
            destroy(core, index)
        return
    if instance.listed == 0:
        offer(core, index)
    if instance.inflight == 0:
        become_idle(core, index)
        unload_for_prewarm(core, index)


@kernel
def unload_for_prewarm(core, index):
    """Hybrid keep-alive: where the next call is far off, unload now and load again just before it."""
    world = core.world[0]
    if world.hybrid == 0:
        return
    instance = core.instances[index]
    function_index = instance.function
    function = core.functions[function_index]
    if function.prewarm <= 0.0 or function.inflight > 1:
        return
    function.target = instance.host
    destroy(core, index)
    # the request that leaves is counted as served in a moment; the next one served makes this stale
    stamp = int((function.served + 1) & 0x7FFFFFFF)
    push(core.world, core.heap, world.now + function.prewarm, _PREWARM, function_index, stamp)


@kernel
def expire(core, index):
    """The keep-alive timer of an instance rang: remove it if it is still idle for long enough."""
    world = core.world[0]
    instance = core.instances[index]
    instance.timer = 0
    if instance.idle == 0:
        return 0
    if instance.expires > world.now:
        instance.timer = 1
        push_timer(core.world, core.timers, instance.expires, index, instance.stamp)
        return 0
    destroy(core, index)
    return 1


@routine
def forget_creation(core, host, index):
    """An instance will not be created after all: the next one in the host's turn may be."""
    if host.creating == index:
        following = host.create_head
        host.creating = following
        if following != _NONE:
            host.create_head = core.instances[following].create_next
            if host.create_head == _NONE:
                host.create_tail = _NONE
            begin_creation(core, following)
        return
    before, here = _NONE, host.create_head
    while here != _NONE and here != index:
        before, here = here, core.instances[here].create_next
    if here == _NONE:
        return
    following = core.instances[index].create_next
    if before == _NONE:
        host.create_head = following
    else:
        core.instances[before].create_next = following
    if host.create_tail == index:
        host.create_tail = before
