"""``least-loaded``: the awake host with the least load; another one is woken only when all are full."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import njit

from trimtab.policies.assign.capacity import by_price, cores_used, fits, has_free_cores, put, room_for
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable


class LeastLoaded:
    """Load is cores wanted over cores there are. A running task stays."""

    name: ClassVar[str] = "least-loaded"

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        room, plan = room_for(tasks, hosts, current)
        _place(room, plan, by_price(hosts))
        return plan


@njit(cache=True)
def _place(room, plan, order):  # type: ignore[no-untyped-def]
    for task in range(len(plan)):
        if plan[task] < 0:
            host = _choose(room, task, order)
            if host >= 0:
                put(room, task, host)
                plan[task] = host


@njit(cache=True)
def _choose(room, task, order):  # type: ignore[no-untyped-def]
    awake = _least(room, task)
    if awake >= 0 and has_free_cores(room, task, awake):
        return awake
    for host in order:
        if not room.load.awake[host] and fits(room, task, host):
            return host
    return awake


@njit(cache=True)
def _least(room, task):  # type: ignore[no-untyped-def]
    """The awake host with the memory that is least loaded with the task on it."""
    best, least = -1, np.inf
    for host in range(len(room.hosts.cores)):
        if room.load.awake[host] and fits(room, task, host):
            wanted = room.load.demand[host] + cores_used(room, task, host)
            load = wanted / room.hosts.cores[host]
            if load < least:
                best, least = host, load
    return best
