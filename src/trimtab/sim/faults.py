"""Faults: a host dies or returns, an instance crashes, metrics go stale, a site is cut off."""

from __future__ import annotations

from trimtab.sim.cpu import fill_cores, leave_core_queue, leave_cpu
from trimtab.sim.draw import below
from trimtab.sim.instances import destroy, forget_creation
from trimtab.sim.kernel import routine
from trimtab.sim.lists import expect_no_more, free_request
from trimtab.sim.meters import meter_host, touch
from trimtab.sim.records import (
    BY_CLUSTER,
    BY_HOST,
    CREATING,
    DOWN,
    FAILED,
    FREE,
    HIBERNATED,
    HOST_BACK,
    HOST_DOWN,
    INSTANCE_CRASH,
    METRICS_BACK,
    METRICS_STALE,
    NONE,
    ON,
    SITE_BACK,
    SITE_CUT,
    WAITING_FOR_CORE,
    WAITING_TO_INIT,
)
from trimtab.sim.requests import abandon, drain_host, feed, use_device

_NONE, _ON, _DOWN, _HIBERNATED, _FREE, _FAILED = NONE, ON, DOWN, HIBERNATED, FREE, FAILED
_BY_HOST, _BY_CLUSTER, _WAITING_FOR_CORE = BY_HOST, BY_CLUSTER, WAITING_FOR_CORE
_CREATING, _WAITING_TO_INIT = CREATING, WAITING_TO_INIT
_HOST_DOWN, _HOST_BACK, _CRASH = HOST_DOWN, HOST_BACK, INSTANCE_CRASH
_STALE, _FRESH, _CUT, _JOINED = METRICS_STALE, METRICS_BACK, SITE_CUT, SITE_BACK


@routine
def lose_requests(core, host_index, instance_index):
    """Everything on a host (or on one instance of it) ends: requests fail, starts are forgotten."""
    for slot in range(len(core.active)):
        request = core.active[slot]
        if request.host != host_index:
            continue
        if instance_index != _NONE and request.instance != instance_index:
            continue
        if request.rate > 0.0:
            leave_cpu(core, slot)
        elif request.phase == _WAITING_FOR_CORE:
            leave_core_queue(core, host_index, slot)
        elif request.phase == _CREATING or request.phase == _WAITING_TO_INIT:
            expect_no_more(core, core.hosts[host_index], slot)
        request.instance = _NONE
        if request.id == _NONE:
            request.host = _NONE
            free_request(core, slot)
        else:
            abandon(core, slot, _FAILED)


@routine
def host_goes_down(core, host_index):
    """A host dies with all that is on it."""
    world = core.world[0]
    host = core.hosts[host_index]
    if host.state == _DOWN:
        return
    meter_host(world, host)
    world.queued -= host.queued
    host.queued = 0
    host.queue_head = _NONE
    host.queue_tail = _NONE
    lose_requests(core, host_index, _NONE)
    host.create_head = _NONE
    host.create_tail = _NONE
    host.creating = _NONE
    host.devices = 0.0
    while host.first_instance != _NONE:
        destroy(core, host.first_instance)
    host.state = _DOWN
    host.stamp += 1  # a host that was about to wake will not
    touch(core, host)


@routine
def crash_one(core, mind_random):
    """A running instance, drawn at random, dies with its requests."""
    world = core.world[0]
    if world.instances == 0:
        return
    skip = below(mind_random, world.instances)
    for index in range(len(core.instances)):
        instance = core.instances[index]
        if instance.state == _FREE:
            continue
        if skip > 0:
            skip -= 1
            continue
        host_index, function_index = instance.host, instance.function
        forget_creation(core, core.hosts[host_index], index)
        if instance.first != _NONE:
            use_device(core, instance, -1.0)
        instance.first = _NONE
        lose_requests(core, host_index, index)
        destroy(core, index)
        if world.fifo == 1:
            fill_cores(core, core.hosts[host_index])
        if world.dispatch == _BY_HOST:
            drain_host(core, host_index)
        elif world.dispatch == _BY_CLUSTER:
            feed(core, function_index)
        return


@routine
def apply_fault(core, columns, fault_random):
    """The next fault of the schedule happens."""
    world = core.world[0]
    fault = columns.faults[world.next_fault]
    world.next_fault += 1
    if fault.kind == _HOST_DOWN:
        host_goes_down(core, fault.target)
    elif fault.kind == _HOST_BACK:
        host = core.hosts[fault.target]
        meter_host(world, host)
        host.state = _HIBERNATED if world.hibernate == 1 else _ON
        world.freed = 1
        touch(core, host)
    elif fault.kind == _CRASH:
        crash_one(core, fault_random)
    elif fault.kind == _STALE or fault.kind == _FRESH:
        world.metrics_stale = 1 if fault.kind == _STALE else 0
    else:
        if fault.kind == _CUT:
            world.cut_mask |= 1 << fault.target
        else:
            world.cut_mask &= ~(1 << fault.target)
            world.freed = 1
        for index in range(world.hosts):
            host = core.hosts[index]
            if host.site == fault.target:
                host.cut = 1 if fault.kind == _CUT else 0
                touch(core, host)
