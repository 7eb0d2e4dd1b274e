"""The engine: one resumable function that takes the world from one event to the next."""

from __future__ import annotations

import math

from trimtab.sim.cpu import enter_cpu, leave_cpu, next_for_core
from trimtab.sim.faults import apply_fault
from trimtab.sim.heap import (
    BATCH_DONE,
    CPU_DONE,
    DELAY_DONE,
    DELIVERY,
    HOST_AWAKE,
    PREWARM,
    STREAM_ENDS,
    event_kind,
    pop,
    pop_timer,
)
from trimtab.sim.instances import created, expire, has_room, initialised, start_instance, wait_off_cpu
from trimtab.sim.keepalive import learn_idle_time
from trimtab.sim.kernel import entry, kernel, routine
from trimtab.sim.lists import unqueue_from_function
from trimtab.sim.meters import record_sample
from trimtab.sim.placing import choose_host
from trimtab.sim.records import (
    ASK,
    AT_END,
    AT_TIME,
    BAD_DECISION,
    BY_CLUSTER,
    BY_HOST,
    COMPLETED,
    CREATING,
    DECISION,
    INIT_OFF_CPU,
    INITIALISING,
    MIGRATING,
    NEEDS_ROOM,
    NONE,
    OFF_CPU,
    ON,
    OUT_OF_BUDGET,
    REJECTED,
    UNASSIGNED,
)
from trimtab.sim.requests import (
    abandon,
    begin_request,
    blank_request,
    close,
    drain_host,
    enter_function_record,
    finish_batch,
    finish_execution,
    instance_started,
    occupy_host,
    put_on_host,
    wait_for_instance,
)
from trimtab.sim.routing import end_stream, route_stream, send_query
from trimtab.sim.tasks import host_awake, task_arrived

_NONE, _ON = NONE, ON
_AT_TIME, _AT_END, _NEEDS_ROOM, _OUT_OF_BUDGET, _BAD, _DECISION = (
    AT_TIME,
    AT_END,
    NEEDS_ROOM,
    OUT_OF_BUDGET,
    BAD_DECISION,
    DECISION,
)
_ASK = ASK
_BY_HOST, _BY_CLUSTER = BY_HOST, BY_CLUSTER
_COMPLETED, _REJECTED = COMPLETED, REJECTED
_CREATING, _INITIALISING, _INIT_OFF_CPU, _OFF_CPU = CREATING, INITIALISING, INIT_OFF_CPU, OFF_CPU
_MIGRATING, _UNASSIGNED = MIGRATING, UNASSIGNED
_CPU_DONE, _BATCH_DONE, _DELAY_DONE, _DELIVERY = CPU_DONE, BATCH_DONE, DELAY_DONE, DELIVERY
_HOST_AWAKE, _STREAM_ENDS, _PREWARM = HOST_AWAKE, STREAM_ENDS, PREWARM

ROOM = 512
"""Free places in the event queue that one event needs at most, two for each request in flight aside."""


@kernel
def deliver(core, mind, choose, slot):
    """A request reaches the platform: place it, queue it at its function, or let it wait for a plan.

    Returns below NONE when the policy's answer was bad, or when it is to be asked again.
    """
    world = core.world[0]
    request = core.active[slot]
    if world.dispatch == _BY_HOST:
        host = choose_host(core, mind, choose, slot)
        if host == _ASK:
            world.asked = slot
        if host < _NONE:
            return host
        if host == _NONE:
            abandon(core, slot, _REJECTED)
        else:
            put_on_host(core, slot, host)
    elif world.dispatch == _BY_CLUSTER:
        function = core.functions[request.function]
        if world.on_demand == 1 and function.first == _NONE and function.queue_head == _NONE:
            host = choose_host(core, mind, choose, slot)
            if host < _NONE:
                return host
            if host != _NONE:
                start_for(core, slot, host)
                return 0
            world.blocked += 1
        wait_for_instance(core, slot)
    else:
        request.phase = _UNASSIGNED
        request.begun = -1.0
    return 0


@kernel
def start_for(core, slot, host_index):
    """Dispatch by cluster, on demand: start an instance for this request."""
    request = core.active[slot]
    request.cold = 1
    core.world[0].cold_starts += 1
    core.hosts[host_index].cold_starts += 1
    occupy_host(core, slot, host_index)
    start_instance(core, request.function, host_index, slot)


@routine
def retry_blocked(core, mind, choose):
    """Memory became free: start instances for functions whose requests found no host."""
    world = core.world[0]
    world.freed = 0
    waiting = 0
    for index in range(world.functions):
        function = core.functions[index]
        while function.queue_head != _NONE and function.first == _NONE:
            core.active[function.queue_head].memory = function.memory  # it may have been resized since
            host = choose_host(core, mind, choose, function.queue_head)
            if host < _NONE:
                return host
            if host == _NONE:
                break
            start_for(core, unqueue_from_function(core, function), host)
        waiting += function.queued
    world.blocked = waiting
    return 0


@kernel
def arrive(core, columns):
    """The next request of the workload arrives; returns its slot, NONE for a query, which is on its way."""
    world = core.world[0]
    identity = world.next_request
    world.next_request = identity + 1
    if len(columns.stream) > 0 and columns.stream[identity] != _NONE:
        send_query(core, columns, identity)
        return _NONE
    function_index = columns.function[identity]
    if world.hybrid == 1:
        learn_idle_time(core, columns.idle_times, function_index)
    slot = begin_request(core, identity)
    function = core.functions[function_index]
    core.active[slot].deadline = world.now + function.deadline
    off_cpu = columns.off_cpu[identity] if len(columns.off_cpu) > 0 else function.off_cpu
    enter_function_record(core, slot, function_index, columns.work[identity], off_cpu)
    return slot


@kernel
def cpu_done(core, host_index):
    """Who was next to finish on a host has finished its CPU work."""
    host = core.hosts[host_index]
    slot = host.next_slot
    leave_cpu(core, slot)
    waiting = next_for_core(core, host)
    if waiting != _NONE:
        enter_cpu(core, waiting, core.active[waiting].left)
    request = core.active[slot]
    if request.phase == _INITIALISING:
        initialised(core, slot)
        return
    if request.off_cpu > 0.0:
        wait_off_cpu(core, slot)
        return
    finish_execution(core, slot)


@kernel
def delay_done(core, slot):
    """A time that passes off the CPU is over."""
    phase = core.active[slot].phase
    if phase == _CREATING:
        created(core, slot)
    elif phase == _INIT_OFF_CPU:
        instance_started(core, slot)
    elif phase == _OFF_CPU:
        finish_execution(core, slot)
    elif phase == _MIGRATING:
        task_arrived(core, slot)
    else:
        close(core, slot, _COMPLETED)


@kernel
def ring(core):
    """The first timer of an idle instance rings; what waits on its host may then have room."""
    first = core.timers[0]
    index, stamp = first.index, first.stamp
    pop_timer(core.world, core.timers)
    instance = core.instances[index]
    if instance.stamp == stamp:
        host = instance.host
        if expire(core, index) == 1 and core.world[0].dispatch == _BY_HOST:
            drain_host(core, host)


@routine
def prewarm(core, function_index, stamp):
    """Hybrid keep-alive: load an instance just before the next call is expected."""
    function = core.functions[function_index]
    if int(function.served & 0x7FFFFFFF) != stamp or function.inflight > 0 or function.instances > 0:
        return
    host = core.hosts[function.target]
    if host.state == _ON and host.cut == 0 and has_room(host, function.memory):
        start_instance(core, function_index, function.target, blank_request(core, function_index))


@kernel
def handle(core, columns, kind, index, stamp):
    """One event of the queue; stale ones are recognised by their stamp and ignored.

    Returns the slot of a request that is to be delivered, NONE if there is none.
    """
    if kind == _CPU_DONE:
        if core.hosts[index].stamp == stamp:
            cpu_done(core, index)
    elif kind == _DELAY_DONE:
        if core.active[index].stamp == stamp:
            delay_done(core, index)
    elif kind == _DELIVERY:
        if core.active[index].stamp == stamp:
            return index
    elif kind == _BATCH_DONE:
        if core.instances[index].stamp == stamp:
            finish_batch(core, index)
    elif kind == _STREAM_ENDS:
        end_stream(core, columns, index)
    elif kind == _HOST_AWAKE:
        if core.hosts[index].stamp == stamp:
            host_awake(core, index)
    elif kind == _PREWARM:
        prewarm(core, index, stamp)
    return _NONE


@kernel
def has_places(core):
    """Whether there is room for whatever the next event may need."""
    world = core.world[0]
    if world.free_request == _NONE or core.active[world.free_request].next == _NONE:
        return False
    if world.instances + world.queued + 2 > len(core.instances):  # all that wait may start at once
        return False
    if world.timers + ROOM + world.inflight >= len(core.timers):
        return False
    return world.heap_size + ROOM + 2 * (world.inflight + world.starting) < len(core.heap)


@kernel
def stopped(world, outcome):
    """Why a run cannot go on: a decision is to be taken outside, or a policy's answer was bad."""
    if outcome == _ASK and (world.asked != _NONE or world.asked_stream != _NONE):
        return _DECISION
    world.bad_value = outcome
    return _BAD


@entry
def advance(core, columns, mind, choose, router, route, fault_random, until, budget):
    """Run until a time, the end, a decision, or something the caller has to see to; returns the reason.

    At equal times faults come first, then events of the queue, then timers, then streams, then arrivals. A
    request whose placement was asked for outside is delivered before anything else happens.
    """
    world = core.world[0]
    slot = world.asked
    while True:
        if not has_places(core):
            return _NEEDS_ROOM
        if world.next_request >= world.requests and world.inflight == 0 and world.now >= world.end:
            return _AT_END
        if budget == 0:
            return _OUT_OF_BUDGET
        budget -= 1
        outcome = 0
        if slot == _NONE:
            fault = columns.faults[world.next_fault].time if world.next_fault < world.faults else math.inf
            event = core.heap[0].time if world.heap_size > 0 else math.inf
            timer = core.timers[0].time if world.timers > 0 else math.inf
            stream = columns.streams[world.next_stream].arrival if world.next_stream < world.streams else math.inf
            arrival = columns.arrival[world.next_request] if world.next_request < world.requests else math.inf
            time = min(min(min(fault, event), min(stream, arrival)), timer)
            if world.next_sample < time and world.next_sample <= until and min(time, until) < math.inf:
                world.now = world.next_sample
                record_sample(core, columns)
                continue
            if time > until or time == math.inf:
                world.now = max(until, world.now) if until < math.inf else world.now
                return _AT_TIME
            world.now = time
            if fault == time:
                apply_fault(core, columns, fault_random)
            elif event == time:
                first = core.heap[0]
                kind, index, stamp = event_kind(first.order), first.index, first.stamp
                pop(core.world, core.heap)
                slot = handle(core, columns, kind, index, stamp)
            elif timer == time:
                ring(core)
            elif stream == time:
                outcome = route_stream(core, columns, router, route)
            else:
                slot = arrive(core, columns)
        else:
            world.asked = _NONE
        if slot != _NONE:
            outcome = deliver(core, mind, choose, slot)
            slot = _NONE
        if outcome < _NONE:
            return stopped(world, outcome)
        if world.blocked > 0 and world.freed == 1:
            outcome = retry_blocked(core, mind, choose)
            if outcome < _NONE:
                return stopped(world, outcome)
