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

from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.policies.assign.compiled import compiled
from trimtab.policies.assign.contract import DOWN, ON, WAKING, HostTable, Ints, TaskTable

Records = npt.NDArray[Any]

ROUNDING = 1e-9
"""Relative slack of comparisons between sums that were added up in different orders."""

TASK = np.dtype(
    [
        ("remaining", np.float64),
        ("cores", np.float64),
        ("memory", np.float64),
        ("time_left", np.float64),  # seconds from now until the deadline
        ("place", np.int64),  # where it runs now; -1: nowhere, or on a host that is down
        ("bandwidth", np.float64),  # of the host where it runs now
    ],
    align=True,
)

HOST = np.dtype(
    [
        ("index", np.int64),
        ("cores", np.float64),
        ("speed", np.float64),
        ("price", np.float64),  # USD a second
        ("wait", np.float64),  # seconds until it can work; a waking one is taken to need all of its wake time
        ("delay", np.float64),  # network, there and back
        ("bandwidth", np.float64),
        ("usable", np.bool_),
        # What is planned for it so far:
        ("awake", np.bool_),  # on, waking, or with a task planned
        ("memory_free", np.float64),
        ("demand", np.float64),  # cores that its tasks could use
        ("needed", np.float64),  # largest share that a task in time needs
        ("work", np.float64),  # core-seconds left
        ("longest", np.float64),  # seconds that its longest task takes alone
    ],
    align=True,
)


def records(tasks: TaskTable, hosts: HostTable, current: Ints) -> tuple[Records, Records, Ints]:
    """Tasks and hosts for compiled functions, with the tasks that stay already on their hosts, and the plan.

    A task stays if its host is up and holds its memory; all others are -1 in the plan.
    """
    machines = _host_records(hosts)
    work = _task_records(tasks, machines, current)
    plan = np.full(len(work), -1, np.int32)
    _keep(work, machines, plan)
    return work, machines, plan


def _host_records(table: HostTable) -> Records:
    hosts = np.zeros(len(table.cores), HOST)
    hosts["index"] = np.arange(len(hosts))
    for column in ("cores", "speed", "bandwidth"):
        hosts[column] = getattr(table, column)
    hosts["price"] = table.price / 3600.0
    hosts["wait"] = np.where(table.state == ON, 0.0, table.wake)
    hosts["delay"] = 2.0 * table.delay
    hosts["usable"] = table.state != DOWN
    hosts["awake"] = (table.state == ON) | (table.state == WAKING)
    hosts["memory_free"] = table.memory
    return hosts


def _task_records(table: TaskTable, hosts: Records, current: Ints) -> Records:
    tasks = np.zeros(len(table.cores), TASK)
    # Work that took longer than expected has none left, not less than none.
    tasks["remaining"] = np.maximum(table.remaining, 0.0)
    tasks["cores"] = table.cores
    tasks["memory"] = table.memory
    tasks["time_left"] = table.deadline - table.age
    somewhere = np.maximum(current, 0)
    tasks["place"] = np.where((current >= 0) & hosts["usable"][somewhere], current, -1)
    tasks["bandwidth"] = hosts["bandwidth"][somewhere]
    return tasks


def by_price(hosts: Records) -> Ints:
    """Hosts by USD per unit of computing power, cheapest first, equal ones by index."""
    return np.argsort(hosts["price"] / (hosts["cores"] * hosts["speed"]), kind="stable").astype(np.int32)


@compiled
def _keep(tasks, hosts, plan):  # type: ignore[no-untyped-def]
    for index in range(len(tasks)):
        task = tasks[index]
        if task.place >= 0 and fits(task, hosts[task.place]):
            put(task, hosts[task.place])
            plan[index] = task.place


@compiled
def fits(task, host):  # type: ignore[no-untyped-def]
    """Whether the host is up and has the memory."""
    return host.usable and task.memory <= host.memory_free


@compiled
def cores_used(task, host):  # type: ignore[no-untyped-def]
    """Cores that the task can use there."""
    return min(task.cores, host.cores)


@compiled
def fullness(host):  # type: ignore[no-untyped-def]
    """Cores wanted over cores there are."""
    return host.demand / host.cores


@compiled
def time_alone(task, host):  # type: ignore[no-untyped-def]
    """Seconds that the rest of the task takes with nobody else on the host."""
    return task.remaining / (cores_used(task, host) * host.speed)


@compiled
def time_moving(task, host):  # type: ignore[no-untyped-def]
    """Seconds of a migration to the host, at the slower of both ends; 0 where there is none."""
    if task.place < 0 or task.place == host.index:
        return 0.0
    return task.memory / min(task.bandwidth, host.bandwidth)


@compiled
def share_with(task, host):  # type: ignore[no-untyped-def]
    """Share that each task of the host gets once this one is there too."""
    return min(1.0, host.cores / (host.demand + cores_used(task, host)))


@compiled
def has_free_cores(task, host):  # type: ignore[no-untyped-def]
    """Whether the task can be added with nobody slowed down."""
    return share_with(task, host) >= 1.0 - ROUNDING


@compiled
def completion(task, host):  # type: ignore[no-untyped-def]
    """Seconds until the task's answer is back, if it is put there."""
    run = time_alone(task, host) / share_with(task, host)
    return time_moving(task, host) + host.wait + run + host.delay


@compiled
def share_needed(task, host):  # type: ignore[no-untyped-def]
    """Share that the task needs there to be in time; infinite if no share is enough."""
    left = task.time_left - time_moving(task, host) - host.wait - host.delay
    if left <= 0.0:
        return np.inf
    return time_alone(task, host) / left


@compiled
def meets_deadlines(task, host, margin=1.0):  # type: ignore[no-untyped-def]
    """Whether the task would be in time there, and everybody who is already there still as well.

    With a margin: even if all of them take ``margin`` times as long as expected.
    """
    needed = margin * max(host.needed, share_needed(task, host))
    return share_with(task, host) >= needed * (1.0 - ROUNDING)


@compiled
def put(task, host):  # type: ignore[no-untyped-def]
    """Account for the task on the host."""
    needed = share_needed(task, host)
    if needed <= 1.0:
        host.needed = max(host.needed, needed)
    host.memory_free -= task.memory
    host.demand += cores_used(task, host)
    host.work += task.remaining
    host.longest = max(host.longest, time_alone(task, host))
    host.awake = True


@compiled
def soonest(task, hosts):  # type: ignore[no-untyped-def]
    """The host with the memory on which the task ends first; -1 if none has it."""
    best, least = -1, np.inf
    for index in range(len(hosts)):
        if fits(task, hosts[index]):
            ends = completion(task, hosts[index])
            if ends < least:
                best, least = index, ends
    return best
