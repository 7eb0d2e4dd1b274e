"""``best-fit``: pack tasks onto the fullest host that keeps its deadlines, and empty nearly empty hosts."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trimtab.policies.assign.capacity import (
    Records,
    by_price,
    fits,
    fullness,
    has_free_cores,
    meets_deadlines,
    put,
    records,
    soonest,
    time_alone,
    time_moving,
)
from trimtab.policies.assign.compiled import compiled
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.scale import checks


class BestFit:
    """Consolidating, with an eye on deadlines.

    A new task goes to the fullest awake host (cores wanted over cores) on which it and all others are in
    time, else wakes the cheapest such host, else goes where it ends first. Then hosts loaded to
    ``nearly_empty`` or less are emptied, the emptiest first, if all of their tasks find room on awake hosts
    that are as full or fuller, in time with the migration; all of them move or none.
    """

    name: ClassVar[str] = "best-fit"

    def __init__(self, nearly_empty: float = 0.25, worth: float = 2.0, margin: float = 1.75) -> None:
        checks.between("nearly_empty", nearly_empty, 0, 1)
        checks.not_negative("worth", worth)
        checks.not_negative("margin", margin)
        self.nearly_empty = float(nearly_empty)
        self.worth = float(worth)
        """A task moves only if it still runs this many times as long as its migration takes."""
        self.margin = float(margin)
        """In time means: even if every task takes this many times as long as expected."""

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        work, machines, plan = records(tasks, hosts, current)
        _place(work, machines, plan, by_price(machines), self.margin)
        if not np.any(plan < 0):
            # While a task waits for memory, all that is free is kept for it.
            self._consolidate(work, machines, plan)
        return plan

    def _consolidate(self, tasks: Records, hosts: Records, plan: Ints) -> None:
        for source in np.argsort(hosts["demand"] / hosts["cores"], kind="stable"):
            # Read again for each: a host may have been filled from others since the order was made.
            if 0.0 < hosts["demand"][source] <= self.nearly_empty * hosts["cores"][source]:
                _empty(tasks, hosts, plan, int(source), self.worth, self.margin)


@compiled
def _place(tasks, hosts, plan, order, margin):  # type: ignore[no-untyped-def]
    for index in range(len(tasks)):
        if plan[index] < 0:
            host = _fullest(tasks[index], hosts, -1, margin)
            if host < 0:
                host = _cheapest_asleep(tasks[index], hosts, order, margin)
            if host < 0:
                host = soonest(tasks[index], hosts)
            if host >= 0:
                put(tasks[index], hosts[host])
                plan[index] = host


@compiled
def _in_time(task, host, margin):  # type: ignore[no-untyped-def]
    # Without a deadline any delay would do, and all tasks would end up on one host: do not slow those down.
    hurried = task.time_left < np.inf
    return meets_deadlines(task, host, margin) and (hurried or has_free_cores(task, host))


@compiled
def _fullest(task, hosts, source, margin):  # type: ignore[no-untyped-def]
    """The fullest awake host in time; with a ``source``, one that is at least as full as it."""
    best, most = -1, -1.0
    least = 0.0 if source < 0 else fullness(hosts[source])
    for index in range(len(hosts)):
        host = hosts[index]
        full = fullness(host)
        if index != source and host.awake and full >= least and full > most:
            if fits(task, host) and _in_time(task, host, margin):
                best, most = index, full
    return best


@compiled
def _cheapest_asleep(task, hosts, order, margin):  # type: ignore[no-untyped-def]
    for index in order:
        if not hosts[index].awake and fits(task, hosts[index]) and _in_time(task, hosts[index], margin):
            return index
    return -1


@compiled
def _empty(tasks, hosts, plan, source, worth, margin):  # type: ignore[no-untyped-def]
    """Move every task off ``source``, or leave everything as it was."""
    moved, after = plan.copy(), hosts.copy()
    for index in range(len(tasks)):
        if plan[index] == source:
            task = tasks[index]
            host = _fullest(task, after, source, margin)
            if host < 0 or time_alone(task, hosts[source]) < worth * time_moving(task, hosts[host]):
                return
            put(task, after[host])
            moved[index] = host
    plan[:] = moved
    for index in range(len(hosts)):
        hosts[index] = after[index]
    # It goes to sleep: nothing else may move there.
    hosts[source].awake = False
    hosts[source].demand = 0.0
