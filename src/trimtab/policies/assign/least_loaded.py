"""``least-loaded``: the awake host with the least load; another one is woken only when all are full."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trimtab.policies.assign.capacity import by_price, cores_used, fits, has_free_cores, put, records
from trimtab.policies.assign.compiled import compiled
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable


class LeastLoaded:
    """Load is cores wanted over cores there are. A running task stays."""

    name: ClassVar[str] = "least-loaded"

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        work, machines, plan = records(tasks, hosts, current)
        _place(work, machines, plan, by_price(machines))
        return plan


@compiled
def _place(tasks, hosts, plan, order):  # type: ignore[no-untyped-def]
    for index in range(len(tasks)):
        if plan[index] < 0:
            host = _choose(tasks[index], hosts, order)
            if host >= 0:
                put(tasks[index], hosts[host])
                plan[index] = host


@compiled
def _choose(task, hosts, order):  # type: ignore[no-untyped-def]
    awake = _least(task, hosts)
    if awake >= 0 and has_free_cores(task, hosts[awake]):
        return awake
    for index in order:
        if not hosts[index].awake and fits(task, hosts[index]):
            return index
    return awake


@compiled
def _least(task, hosts):  # type: ignore[no-untyped-def]
    """The awake host with the memory that is least loaded with the task on it."""
    best, least = -1, np.inf
    for index in range(len(hosts)):
        host = hosts[index]
        if host.awake and fits(task, host):
            load = (host.demand + cores_used(task, host)) / host.cores
            if load < least:
                best, least = index, load
    return best
