"""What the schedulers' networks see of a host: the machine, and the load that a plan puts on it.

Loads are sums over the tasks of a host, so they are linear in the assignment matrix X (tasks x hosts), also where X
is relaxed to shares between 0 and 1:

    load[host, column] = sum over tasks of X[task, host] x edge[task, host, column]

and the gradient of anything by X follows from its gradient by the loads with one product. The same functions serve
training and decisions. Networks share their weights over hosts; they are not bound to a number of hosts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.policies.assign.capacity import (
    Records,
    cores_used,
    records,
    share_needed,
    time_alone,
    time_moving,
)
from trimtab.policies.assign.compiled import compiled
from trimtab.policies.assign.contract import HIBERNATED, ON, WAKING, Floats, HostTable, Ints, TaskTable

MACHINE = ("cores", "speed", "price", "idle-watts", "full-watts", "on", "waking", "asleep", "wait")
"""Columns of a host whatever is planned."""
LOAD = (
    "tasks",  # how many
    "demand",  # cores wanted over cores
    "work",  # seconds of the whole machine
    "alone",  # seconds that each takes alone, summed
    "alone-squared",
    "memory",  # share of the host's
    "disk",  # share of its throughput
    "needed",  # share of the machine that all need to be in time, the hopeless aside, here and below
    "pressure",  # share of its cores that each needs to be in time, summed
    "pressure-squared",
    "hopeless",  # how many are late even alone
    "moving",  # seconds of migrations
)
"""Columns of what is planned for a host."""
FEATURES = (*MACHINE, *LOAD)

_DOUBTFUL = (0.9, 1.1)
"""A task that needs more than all of its cores is late whatever it gets; near that it counts in part, because work
is not known exactly."""
_MINUTES = 300.0
"""Seconds are in units of five minutes, about one task, so that their squares stay small."""


@dataclass(frozen=True)
class View:
    """One decision's tables in the form that the searches use."""

    tasks: Records
    hosts: Records
    start: Ints
    """The plan before anything is decided: a host for those that stay, -1 for the others."""
    machine: Floats
    """Hosts by columns of ``MACHINE``."""
    edges: Floats
    """Tasks by hosts by columns of ``LOAD``."""

    def loads(self, plan: Ints) -> Floats:
        """Hosts by columns of ``LOAD`` under a plan."""
        found = np.zeros((len(self.hosts), len(LOAD)))
        placed = np.flatnonzero(plan >= 0)
        np.add.at(found, plan[placed], self.edges[placed, plan[placed]])
        return found


def view(tasks: TaskTable, hosts: HostTable, current: Ints) -> View:
    """All that the networks and searches need of a decision."""
    work, machines, start = records(tasks, hosts, current)
    edges = np.empty((len(work), len(machines), len(LOAD)))
    _all_edges(work, tasks.disk, machines, hosts.memory, hosts.disk, edges)
    return View(work, machines, start, machine_columns(hosts), edges)


def planned_edges(tasks: TaskTable, hosts: HostTable, current: Ints, plan: Ints) -> Floats:
    """Each task's columns of ``LOAD`` on the host that the plan gives it; zeros for those that wait."""
    work, machines, _ = records(tasks, hosts, current)
    edges = np.zeros((len(work), len(LOAD)))
    _planned(work, tasks.disk, machines, hosts.memory, hosts.disk, plan, edges)
    return edges


def machine_columns(hosts: HostTable) -> Floats:
    """Hosts by columns of ``MACHINE``."""
    state = [np.where(hosts.state == each, 1.0, 0.0) for each in (ON, WAKING, HIBERNATED)]
    wait = np.where(hosts.state == ON, 0.0, hosts.wake) / _MINUTES
    return np.column_stack(
        [hosts.cores, hosts.speed, hosts.price, hosts.power_idle, hosts.power_full, *state, wait]
    )  # fmt: skip


@compiled
def _all_edges(tasks, disks, hosts, memory, throughput, edges):  # type: ignore[no-untyped-def]
    for index in range(len(tasks)):
        for host in range(len(hosts)):
            _edge(tasks[index], disks[index], hosts[host], memory[host], throughput[host], edges[index, host])


@compiled
def _planned(tasks, disks, hosts, memory, throughput, plan, edges):  # type: ignore[no-untyped-def]
    for index in range(len(tasks)):
        host = plan[index]
        if host >= 0:
            _edge(tasks[index], disks[index], hosts[host], memory[host], throughput[host], edges[index])


@compiled
def _edge(task, disk, host, memory, throughput, out):  # type: ignore[no-untyped-def]
    cores = cores_used(task, host)
    alone = time_alone(task, host) / _MINUTES
    needed = share_needed(task, host)
    low, high = _DOUBTFUL
    hopeless = min(max((needed - low) / (high - low), 0.0), 1.0)
    pressure = (1.0 - hopeless) * min(needed, high)
    out[0] = 1.0
    out[1] = cores / host.cores
    out[2] = task.remaining / (host.cores * host.speed) / _MINUTES
    out[3] = alone
    out[4] = alone * alone
    out[5] = task.memory / memory
    out[6] = disk / throughput
    out[7] = pressure * cores / host.cores
    out[8] = pressure
    out[9] = pressure * pressure
    out[10] = hopeless
    out[11] = time_moving(task, host) / _MINUTES
