"""The way of a request: arrival, network, queue, instance, execution, answer."""

from __future__ import annotations

import math

from trimtab.sim.draw import hashed_normal, hashed_uniform
from trimtab.sim.heap import BATCH_DONE, DELAY_DONE, DELIVERY, push
from trimtab.sim.instances import (
    become_idle,
    become_ready,
    cease_idle,
    execute,
    has_room,
    join,
    leave,
    offer,
    pool_of,
    start_instance,
    withdraw,
)
from trimtab.sim.kernel import kernel, routine
from trimtab.sim.lists import (
    free_request,
    queue_on_function,
    queue_on_host,
    requeue_on_function,
    take_request,
    unqueue_from_function,
    unqueue_from_host,
)
from trimtab.sim.meters import meter_function, meter_host, meter_world, touch
from trimtab.sim.records import (
    BY_CLUSTER,
    BY_HOST,
    BY_INTERVAL,
    COMPLETED,
    DOWN,
    FAILED,
    HIBERNATED,
    IN_BATCH,
    IN_TRANSIT,
    NONE,
    ON,
    QUEUED,
    REJECTED,
    RESPONDING,
    UNASSIGNED,
)

_NONE, _ON, _DOWN, _HIBERNATED = NONE, ON, DOWN, HIBERNATED
_BY_HOST, _BY_CLUSTER, _BY_INTERVAL = BY_HOST, BY_CLUSTER, BY_INTERVAL
_COMPLETED, _FAILED, _REJECTED = COMPLETED, FAILED, REJECTED
_IN_TRANSIT, _QUEUED, _IN_BATCH, _RESPONDING, _UNASSIGNED = (
    IN_TRANSIT,
    QUEUED,
    IN_BATCH,
    RESPONDING,
    UNASSIGNED,
)
_DELAY_DONE, _DELIVERY, _BATCH_DONE = DELAY_DONE, DELIVERY, BATCH_DONE
_LATENCY_BINS = 160
_LATENCY_FIRST = 1e-4
_LATENCY_RATIO = math.log(1.1)


@kernel
def latency_bin(seconds):
    """Bin of a latency: 0.1 ms times powers of 1.1, up to about 380 s."""
    if seconds <= _LATENCY_FIRST:
        return 0
    return min(int(math.log(seconds / _LATENCY_FIRST) / _LATENCY_RATIO) + 1, _LATENCY_BINS - 1)


@kernel
def draw_work(seed, identity, stage, mean, deviation, distribution):
    """Work of a later stage of a chain: the same for every policy, without a column to store it."""
    if distribution == 0:
        return -mean * math.log(hashed_uniform(seed, identity, stage))
    if distribution == 1:
        spread = math.log(1.0 + deviation * deviation)
        return mean * math.exp(math.sqrt(spread) * hashed_normal(seed, identity, stage) - spread / 2.0)
    if distribution == 3:
        half = deviation * math.sqrt(3.0)
        return mean * max(0.0, 1.0 + half * (2.0 * hashed_uniform(seed, identity, stage) - 1.0))
    return mean


@kernel
def copy_function(request, function):
    """What a policy sees of a request that belongs to its function."""
    request.function = function.index
    request.work = function.work
    request.memory = function.memory
    request.init = function.init
    request.create = function.create
    request.cap = function.cap
    request.weight = function.weight
    request.hash = function.hash


@kernel
def enter_function_record(core, slot, function_index, work, off_cpu):
    """Fill what a request takes over from the function that it now calls."""
    world = core.world[0]
    request = core.active[slot]
    function = core.functions[function_index]
    copy_function(request, function)
    request.true_work = work
    request.off_cpu = off_cpu
    request.entered = world.now
    if world.meter_functions == 1:
        meter_function(function, world.now)
    function.inflight += 1
    function.arrivals += 1


@kernel
def begin_request(core, identity):
    """A request arrives at the system: take a slot, count it, and fill what is known of it."""
    world = core.world[0]
    slot = take_request(core)
    request = core.active[slot]
    meter_world(world)
    world.inflight += 1
    request.id = identity
    request.arrival = world.now
    request.source = 0
    return slot


@kernel
def close(core, slot, status):
    """The end of a request, one way or another: it is counted once, and its slot is free."""
    world = core.world[0]
    request = core.active[slot]
    meter_world(world)
    world.inflight -= 1
    result = core.results[request.id]
    result.status = status
    result.cold = request.cold
    if status == _COMPLETED:
        result.completion = world.now
        world.completed += 1
        if world.now > request.deadline:
            result.late = 1
            world.late += 1
    elif status == _FAILED:
        world.failed += 1
    else:
        world.rejected += 1
    world.last_end = world.now
    free_request(core, slot)


@kernel
def leave_function(core, slot, answered):
    """A request is done with a function: its meters and latency histogram for the control loop."""
    world = core.world[0]
    request = core.active[slot]
    function = core.functions[request.function]
    latency = world.now - request.entered
    if world.meter_functions == 1:
        meter_function(function, world.now)
        if answered:
            core.latency[request.function * _LATENCY_BINS + latency_bin(latency)] += 1
    function.inflight -= 1
    function.served += 1
    function.last_end = world.now
    if answered:
        function.completions += 1
        function.services += 1
        function.service_seconds += world.now - request.begun
    if not answered or latency > function.deadline or world.now > request.deadline:
        function.violations += 1


@kernel
def leave_host(core, slot):
    """A request is no longer on its host, which may sleep now."""
    host_index = core.active[slot].host
    vacate(core, slot)
    rest(core, host_index)


@kernel
def rest(core, host_index):
    """A host without anything to do sleeps, where hosts hibernate."""
    world = core.world[0]
    host = core.hosts[host_index]
    if world.hibernate == 1 and host.inflight == 0 and host.state == _ON:
        meter_host(world, host)
        host.state = _HIBERNATED
        touch(core, host)


@kernel
def vacate(core, slot):
    """A request is no longer on its host."""
    world = core.world[0]
    request = core.active[slot]
    host = core.hosts[request.host]
    meter_host(world, host)
    host.inflight -= 1
    if world.dispatch == _BY_HOST:
        host.slots_free += request.memory
    if world.dispatch == _BY_INTERVAL:
        host.memory_used -= request.memory
        host.memory_free = host.memory - host.memory_used
    request.host = _NONE
    touch(core, host)


@routine
def abandon(core, slot, status):
    """A request that waits for nothing any more (rejected, dropped) ends.

    Refused by a later function of a chain it has failed: it had been accepted.
    """
    if core.active[slot].stage > 0:
        status = _FAILED
    leave_function(core, slot, False)
    if core.active[slot].host != _NONE:
        leave_host(core, slot)
    close(core, slot, status)


@kernel
def put_on_host(core, slot, host_index):
    """OpenWhisk's invoker: a warm instance, a new one, or the end of the queue."""
    world = core.world[0]
    host = core.hosts[host_index]
    request = core.active[slot]
    meter_host(world, host)
    request.host = host_index
    core.results[request.id].host = host_index
    host.inflight += 1
    host.slots_free -= request.memory
    host.network_total += core.functions[request.function].network_bytes
    host.disk_total += core.functions[request.function].disk_bytes
    touch(core, host)
    if host.queue_head == _NONE and start_on_host(core, slot, host_index):
        return
    if host.queued >= world.queue_limit:
        abandon(core, slot, _REJECTED)
        return
    request.phase = _QUEUED
    queue_on_host(core, host, slot)


@kernel
def start_on_host(core, slot, host_index):
    """Start a request on its host if a warm instance or memory for a new one is there."""
    request = core.active[slot]
    host = core.hosts[host_index]
    pool = pool_of(core, host_index, request.function)
    if pool.first != _NONE:
        join(core, slot, pool.first)
        return True
    if not has_room(host, core.functions[request.function].memory):
        return False
    request.cold = 1
    core.world[0].cold_starts += 1
    host.cold_starts += 1
    start_instance(core, request.function, host_index, slot)
    return True


@routine
def drain_host(core, host_index):
    """Start what waits on a host, strictly first-in-first-out: the head blocks all."""
    host = core.hosts[host_index]
    while host.queue_head != _NONE and start_on_host_head(core, host, host_index):
        pass


@kernel
def start_on_host_head(core, host, host_index):
    """Start the head of a host's queue if it can start."""
    slot = host.queue_head
    function_index = core.active[slot].function
    pool = pool_of(core, host_index, function_index)
    if pool.first == _NONE and not has_room(host, core.functions[function_index].memory):
        return False
    unqueue_from_host(core, host)
    return start_on_host(core, slot, host_index)


@kernel
def occupy_host(core, slot, host_index):
    """Dispatch by cluster: the request now counts on the host of its instance."""
    host = core.hosts[host_index]
    request = core.active[slot]
    meter_host(core.world[0], host)
    host.inflight += 1
    host.network_total += core.functions[request.function].network_bytes
    host.disk_total += core.functions[request.function].disk_bytes
    request.host = host_index
    core.results[request.id].host = host_index


@routine
def feed(core, function_index):
    """Dispatch by cluster: give waiting requests of a function to instances with a free place."""
    function = core.functions[function_index]
    while function.queue_head != _NONE and function.first != _NONE:
        index = function.first
        if function.batch > 0:
            if not start_batch(core, index):
                return
        else:
            slot = unqueue_from_function(core, function)
            occupy_host(core, slot, core.instances[index].host)
            join(core, slot, index)


@kernel
def start_batch(core, index):
    """Greedy batching: an idle instance takes what waits, up to its batch size."""
    world = core.world[0]
    instance = core.instances[index]
    function = core.functions[instance.function]
    count, noise = 0, 0.0
    while count < function.batch and function.queue_head != _NONE:
        slot = unqueue_from_function(core, function)
        request = core.active[slot]
        if world.drops_late == 1 and world.now + function.base + function.each + request.down > request.deadline:
            abandon(core, slot, _FAILED)
            continue
        occupy_host(core, slot, instance.host)
        request.instance = index
        request.phase = _IN_BATCH
        request.begun = world.now
        if request.stage == 0:
            core.results[request.id].start = world.now
        request.next = instance.first
        instance.first = slot
        if count == 0:
            noise = request.noise
        count += 1
    if count == 0:
        return False
    if instance.idle == 1:
        cease_idle(core, index)
    withdraw(core, index)
    touch(core, core.hosts[instance.host])
    use_device(core, instance, 1.0)
    instance.inflight = count
    seconds = (function.base + function.each * count) * max(1.0 + function.batch_deviation * noise, 0.1)
    push(core.world, core.heap, world.now + seconds, _BATCH_DONE, index, instance.stamp)
    return True


@kernel
def use_device(core, instance, sign):
    """A batch occupies the instance's own device: its share of what the host's meters call cores."""
    host = core.hosts[instance.host]
    meter_host(core.world[0], host)
    host.devices = max(host.devices + sign * instance.cpu, 0.0)


@routine
def finish_batch(core, index):
    """All requests of a batch are answered at once."""
    instance = core.instances[index]
    function_index = instance.function
    slot = instance.first
    instance.first = _NONE
    use_device(core, instance, -1.0)
    while slot != _NONE:
        following = core.active[slot].next
        core.active[slot].next = _NONE
        leave(core, slot)
        answer(core, slot)
        slot = following
    feed(core, function_index)


@kernel
def answer(core, slot):
    """The execution is over: call the next function of a chain, or send the answer back.

    Returns 1 when the request goes on to another function and has to be delivered there.
    """
    world = core.world[0]
    request = core.active[slot]
    leave_function(core, slot, True)
    leave_host(core, slot)
    function = core.functions[request.function]
    if function.next != _NONE:
        following = core.functions[function.next]
        request.stage += 1
        work = draw_work(
            world.seed, request.id, request.stage, following.work, following.deviation, following.distribution
        )
        enter_function_record(core, slot, function.next, work, following.off_cpu)
        request.phase = _IN_TRANSIT
        push(core.world, core.heap, world.now, _DELIVERY, slot, request.stamp)
    elif request.down > 0.0:
        request.phase = _RESPONDING
        push(core.world, core.heap, world.now + request.down, _DELAY_DONE, slot, request.stamp)
    else:
        close(core, slot, _COMPLETED)


@kernel
def finish_execution(core, slot):
    """A request on a shared CPU is done: free its instance, answer, let others start."""
    request = core.active[slot]
    host_index, function_index = request.host, request.function
    if request.instance != _NONE:
        leave(core, slot)
    answer(core, slot)
    if core.world[0].queued == 0:
        return
    if core.world[0].dispatch == _BY_HOST:
        drain_host(core, host_index)
    elif core.world[0].dispatch == _BY_CLUSTER:
        feed(core, function_index)


@kernel
def wait_for_instance(core, slot):
    """Dispatch by cluster: queue at the function, and give to a free instance at once if there is one."""
    world = core.world[0]
    request = core.active[slot]
    function = core.functions[request.function]
    if function.first == _NONE and function.queued >= world.queue_limit:
        abandon(core, slot, _REJECTED)
        return
    if function.first != _NONE and function.queue_head == _NONE and function.batch == 0:
        index = function.first
        occupy_host(core, slot, core.instances[index].host)
        join(core, slot, index)
        return
    request.phase = _QUEUED
    queue_on_function(core, function, slot)
    feed(core, request.function)


@routine
def instance_started(core, slot):
    """An instance is ready: run the request that waited for it, or offer it to everybody."""
    request = core.active[slot]
    index = request.instance
    become_ready(core, index)
    instance = core.instances[index]
    function_index, host_index = instance.function, instance.host
    if request.id != _NONE and core.functions[function_index].batch > 0:
        requeue(core, slot, index)
    elif request.id != _NONE:
        execute(core, slot)
        if instance.inflight < core.functions[function_index].concurrency:
            offer(core, index)
    else:
        free_request(core, slot)
        offer(core, index)
        become_idle(core, index)
    if core.world[0].dispatch == _BY_HOST:
        drain_host(core, host_index)
    else:
        feed(core, function_index)


@kernel
def requeue(core, slot, index):
    """A request waited for an instance that serves batches: it is the first to be taken into one."""
    request = core.active[slot]
    request.instance = _NONE
    core.instances[index].inflight = 0
    leave_host(core, slot)
    request.phase = _QUEUED
    requeue_on_function(core, core.functions[request.function], slot)
    offer(core, index)
    become_idle(core, index)


@kernel
def blank_request(core, function_index):
    """A slot that belongs to nobody: it carries a start that no request waits for."""
    function = core.functions[function_index]
    slot = take_request(core)
    request = core.active[slot]
    copy_function(request, function)
    request.id = _NONE
    request.arrival = core.world[0].now
    return slot
