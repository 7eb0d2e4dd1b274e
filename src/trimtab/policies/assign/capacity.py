"""What a host can still take, and when a task would end there: shared by the assign policies.

CPU of a host is shared in proportion to the cores that its tasks can use:

    demand = sum of min(cores of task, cores of host)
    share  = min(1, cores of host / demand)
    time of a task = remaining / (min(cores of task, cores of host) x speed x share)

A task that must end in time needs at least the share (time alone) / (time left). A host remembers the largest
share that one of its tasks needs, so that one comparison tells whether a newcomer would make anybody late.
Tasks that cannot be in time even alone do not count: nothing can be saved for them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from trimtab.policies.assign.contract import DOWN, ON, WAKING, Floats, HostTable, Ints, TaskTable

Flags = npt.NDArray[np.bool_]

ROUNDING = 1e-9
"""Relative slack of comparisons between sums that were added up in different orders."""


class Tasks(NamedTuple):
    """The columns of a task that kernels read."""

    remaining: Floats
    cores: Floats
    memory: Floats
    time_left: Floats
    """Seconds from now until the deadline."""
    place: Ints
    """Where it runs now; -1: nowhere, or on a host that is down."""


class Hosts(NamedTuple):
    """The columns of a host that kernels read."""

    cores: Floats
    speed: Floats
    price: Floats
    """USD a second."""
    usable: Flags
    wait: Floats
    """Seconds until it can work; a waking host is taken to need the whole wake time."""
    delay: Floats
    """Network, there and back."""
    bandwidth: Floats


class Load(NamedTuple):
    """What is planned for each host so far; kernels write it."""

    memory_free: Floats
    demand: Floats
    """Cores that the tasks could use."""
    needed: Floats
    """Largest share that a task in time needs."""
    work: Floats
    """Core-seconds left."""
    longest: Floats
    """Seconds that the longest task takes alone."""
    awake: Flags
    """On, waking, or with a task planned."""


class Room(NamedTuple):
    """All that a kernel needs."""

    tasks: Tasks
    hosts: Hosts
    load: Load


def room_for(tasks: TaskTable, hosts: HostTable, current: Ints) -> tuple[Room, Ints]:
    """The hosts with the tasks that stay where they are, and the plan that says so.

    A task stays if its host is up and holds its memory; all others are -1 in the plan.
    """
    usable = hosts.state != DOWN
    place = np.where((current >= 0) & usable[np.maximum(current, 0)], current, -1).astype(np.int32)
    room = Room(_tasks_of(tasks, place), _hosts_of(hosts, usable), _empty_load(hosts))
    plan: Ints = _keep(room)
    return room, plan


def _tasks_of(table: TaskTable, place: Ints) -> Tasks:
    # Work that took longer than expected has none left, not less than none.
    remaining = np.maximum(table.remaining, 0.0)
    return Tasks(remaining, table.cores, table.memory, table.deadline - table.age, place)


def _hosts_of(table: HostTable, usable: Flags) -> Hosts:
    return Hosts(
        cores=table.cores,
        speed=table.speed,
        price=table.price / 3600.0,
        usable=usable,
        wait=np.where(table.state == ON, 0.0, table.wake),
        delay=2.0 * table.delay,
        bandwidth=table.bandwidth,
    )


def _empty_load(table: HostTable) -> Load:
    hosts = len(table.cores)
    return Load(
        memory_free=table.memory.astype(np.float64),
        demand=np.zeros(hosts),
        needed=np.zeros(hosts),
        work=np.zeros(hosts),
        longest=np.zeros(hosts),
        awake=(table.state == ON) | (table.state == WAKING),
    )


def by_price(table: HostTable) -> Ints:
    """Hosts by USD per unit of computing power, cheapest first, equal ones by index."""
    return np.argsort(table.price / (table.cores * table.speed), kind="stable").astype(np.int32)


@njit(cache=True)
def _keep(room):  # type: ignore[no-untyped-def]
    place = room.tasks.place
    plan = np.full(len(place), -1, np.int32)
    for task in range(len(place)):
        if place[task] >= 0 and fits(room, task, place[task]):
            put(room, task, place[task])
            plan[task] = place[task]
    return plan


@njit(cache=True)
def fits(room, task, host):  # type: ignore[no-untyped-def]
    """Whether the host is up and has the memory."""
    return room.hosts.usable[host] and room.tasks.memory[task] <= room.load.memory_free[host]


@njit(cache=True)
def cores_used(room, task, host):  # type: ignore[no-untyped-def]
    """Cores that the task can use there."""
    return min(room.tasks.cores[task], room.hosts.cores[host])


@njit(cache=True)
def fullness(room, host):  # type: ignore[no-untyped-def]
    """Cores wanted over cores there are."""
    return room.load.demand[host] / room.hosts.cores[host]


@njit(cache=True)
def time_alone(room, task, host):  # type: ignore[no-untyped-def]
    """Seconds that the rest of the task takes with nobody else on the host."""
    return room.tasks.remaining[task] / (cores_used(room, task, host) * room.hosts.speed[host])


@njit(cache=True)
def time_moving(room, task, host):  # type: ignore[no-untyped-def]
    """Seconds of a migration to the host, at the slower of both ends; 0 where there is none."""
    source = room.tasks.place[task]
    if source < 0 or source == host:
        return 0.0
    return room.tasks.memory[task] / min(room.hosts.bandwidth[source], room.hosts.bandwidth[host])


@njit(cache=True)
def share_with(room, task, host):  # type: ignore[no-untyped-def]
    """Share that each task of the host gets once this one is there too."""
    demand = room.load.demand[host] + cores_used(room, task, host)
    return min(1.0, room.hosts.cores[host] / demand)


@njit(cache=True)
def has_free_cores(room, task, host):  # type: ignore[no-untyped-def]
    """Whether the task can be added with nobody slowed down."""
    return share_with(room, task, host) >= 1.0 - ROUNDING


@njit(cache=True)
def completion(room, task, host):  # type: ignore[no-untyped-def]
    """Seconds until the task's answer is back, if it is put there."""
    run = time_alone(room, task, host) / share_with(room, task, host)
    return time_moving(room, task, host) + room.hosts.wait[host] + run + room.hosts.delay[host]


@njit(cache=True)
def share_needed(room, task, host):  # type: ignore[no-untyped-def]
    """Share that the task needs there to be in time; infinite if no share is enough."""
    overhead = time_moving(room, task, host) + room.hosts.wait[host] + room.hosts.delay[host]
    left = room.tasks.time_left[task] - overhead
    if left <= 0.0:
        return np.inf
    return time_alone(room, task, host) / left


@njit(cache=True)
def meets_deadlines(room, task, host):  # type: ignore[no-untyped-def]
    """Whether the task would be in time there, and everybody who is already there still as well."""
    needed = max(room.load.needed[host], share_needed(room, task, host))
    return share_with(room, task, host) >= needed * (1.0 - ROUNDING)


@njit(cache=True)
def put(room, task, host):  # type: ignore[no-untyped-def]
    """Account for the task on the host."""
    needed = share_needed(room, task, host)
    room.load.memory_free[host] -= room.tasks.memory[task]
    room.load.demand[host] += cores_used(room, task, host)
    room.load.work[host] += room.tasks.remaining[task]
    room.load.longest[host] = max(room.load.longest[host], time_alone(room, task, host))
    room.load.awake[host] = True
    if needed <= 1.0:
        room.load.needed[host] = max(room.load.needed[host], needed)


@njit(cache=True)
def soonest(room, task):  # type: ignore[no-untyped-def]
    """The host with the memory on which the task ends first; -1 if none has it."""
    best, least = -1, np.inf
    for host in range(len(room.hosts.cores)):
        if fits(room, task, host):
            ends = completion(room, task, host)
            if ends < least:
                best, least = host, ends
    return best
