"""Assign decisions carried out: tasks start on hosts, wait for hosts to wake, and migrate."""

from __future__ import annotations

from trimtab.sim.cpu import enter_cpu, fill_cores, leave_core_queue, leave_cpu
from trimtab.sim.heap import DELAY_DONE, HOST_AWAKE, push
from trimtab.sim.kernel import entry, kernel, routine
from trimtab.sim.lists import queue_on_host, unqueue_from_host
from trimtab.sim.meters import meter_host, touch
from trimtab.sim.records import (
    DOWN,
    HIBERNATED,
    MIGRATING,
    NONE,
    ON,
    QUEUED,
    RUNNING,
    UNASSIGNED,
    WAITING_FOR_CORE,
    WAKING,
)
from trimtab.sim.requests import rest, vacate

_NONE, _ON, _WAKING, _HIBERNATED, _DOWN = NONE, ON, WAKING, HIBERNATED, DOWN
_RUNNING, _QUEUED, _MIGRATING, _UNASSIGNED = RUNNING, QUEUED, MIGRATING, UNASSIGNED
_WAITING_FOR_CORE = WAITING_FOR_CORE
_DELAY_DONE, _HOST_AWAKE = DELAY_DONE, HOST_AWAKE


@entry
def apply_plan(core, slots, plan, delays):
    """Carry out the feasible part of a plan; returns how many of its entries were not feasible.

    ``delays`` is the network delay from each task's gateway to its host: its data travel there first.
    """
    world = core.world[0]
    refused = 0
    for position in range(len(slots)):
        slot, target = slots[position], plan[position]
        request = core.active[slot]
        if target == request.host or target == _NONE:
            continue
        if target < 0 or target >= world.hosts:
            refused += 1
            continue
        host = core.hosts[target]
        phase = request.phase
        movable = phase == _UNASSIGNED or phase == _RUNNING or phase == _WAITING_FOR_CORE
        no_room = host.memory_used + request.memory > host.memory
        if host.state == _DOWN or host.cut == 1 or no_room or not movable:
            refused += 1
            continue
        if phase == _UNASSIGNED:
            move_in(core, slot, target, delays[position])
        else:
            source = core.hosts[request.host]
            take_off_cpu(core, slot)
            vacate(core, slot)
            world.migrations += 1
            move_in(core, slot, target, request.memory / min(source.bandwidth, host.bandwidth))
        request.down = delays[position]
    # only now: a host that one task leaves and another enters must not sleep in between, and be woken again
    for host_index in range(world.hosts):
        rest(core, host_index)
    return refused


@entry
def redraw(core, slots, left):
    """Give tasks another amount of work that is left: a run goes on as if that were the truth."""
    for position in range(len(slots)):
        slot = slots[position]
        if core.active[slot].phase == _RUNNING:
            leave_cpu(core, slot)
            enter_cpu(core, slot, left[position])
        elif core.active[slot].phase != _WAITING_FOR_CORE:
            core.active[slot].true_work = left[position]


@kernel
def take_off_cpu(core, slot):
    """A task stops where it runs, or waits to; what it has left goes with it."""
    request = core.active[slot]
    host = core.hosts[request.host]
    if request.phase == _WAITING_FOR_CORE:
        leave_core_queue(core, request.host, slot)
        request.true_work = request.left
        return
    request.true_work = leave_cpu(core, slot)
    if core.world[0].fifo == 1:
        fill_cores(core, host)


@entry
def wake(core, host_index):
    """Wake a host that has no task yet; where hosts hibernate it sleeps again after the next plan without it."""
    meter_host(core.world[0], core.hosts[host_index])
    rouse(core, host_index)
    touch(core, core.hosts[host_index])


@kernel
def rouse(core, host_index):
    """A sleeping host begins to wake."""
    world = core.world[0]
    host = core.hosts[host_index]
    if host.state == _HIBERNATED:
        host.state = _WAKING
        push(core.world, core.heap, world.now + world.wake, _HOST_AWAKE, host_index, host.stamp)


@kernel
def move_in(core, slot, host_index, delay):
    """Reserve the task's place on a host and send it there; a sleeping host is woken."""
    world = core.world[0]
    request = core.active[slot]
    host = core.hosts[host_index]
    meter_host(world, host)
    request.host = host_index
    core.results[request.id].host = host_index
    host.inflight += 1
    host.memory_used += request.memory
    host.memory_free = host.memory - host.memory_used
    rouse(core, host_index)
    request.phase = _MIGRATING
    push(core.world, core.heap, world.now + delay, _DELAY_DONE, slot, request.stamp)
    touch(core, host)


@kernel
def task_arrived(core, slot):
    """A task's data are on its host: run, or wait until the host is awake."""
    request = core.active[slot]
    host = core.hosts[request.host]
    if host.state == _ON:
        run_task(core, slot)
    else:
        request.phase = _QUEUED
        queue_on_host(core, host, slot)


@kernel
def run_task(core, slot):
    """A task gets, or gets back, its share of the CPU."""
    request = core.active[slot]
    if request.begun < 0.0:
        request.begun = core.world[0].now
        if request.stage == 0:
            core.results[request.id].start = core.world[0].now
    request.phase = _RUNNING
    enter_cpu(core, slot, request.true_work)


@routine
def host_awake(core, host_index):
    """A host has woken: the tasks that wait for it begin."""
    host = core.hosts[host_index]
    if host.state != _WAKING:
        return
    meter_host(core.world[0], host)
    host.state = _ON
    while host.queue_head != _NONE:
        run_task(core, unqueue_from_host(core, host))
    touch(core, host)
