"""``best-fit``: pack tasks onto the fullest host that keeps its deadlines, and empty nearly empty hosts."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import njit

from trimtab.policies.assign.capacity import (
    Load,
    by_price,
    fits,
    fullness,
    has_free_cores,
    meets_deadlines,
    put,
    room_for,
    soonest,
    time_alone,
    time_moving,
)
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

    def __init__(self, nearly_empty: float = 0.25, worth: float = 2.0) -> None:
        checks.between("nearly_empty", nearly_empty, 0, 1)
        checks.not_negative("worth", worth)
        self.nearly_empty = float(nearly_empty)
        self.worth = float(worth)
        """A task moves only if it still runs this many times as long as its migration takes."""

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        room, plan = room_for(tasks, hosts, current)
        _place(room, plan, by_price(hosts))
        _consolidate(room, plan, self.nearly_empty, self.worth)
        return plan


@njit(cache=True)
def _place(room, plan, order):  # type: ignore[no-untyped-def]
    for task in range(len(plan)):
        if plan[task] < 0:
            host = _fullest(room, task, -1)
            if host < 0:
                host = _cheapest_asleep(room, task, order)
            if host < 0:
                host = soonest(room, task)
            if host >= 0:
                put(room, task, host)
                plan[task] = host


@njit(cache=True)
def _in_time(room, task, host):  # type: ignore[no-untyped-def]
    # Without a deadline any delay would do, and all tasks would end up on one host: do not slow those down.
    hurried = room.tasks.time_left[task] < np.inf
    return meets_deadlines(room, task, host) and (hurried or has_free_cores(room, task, host))


@njit(cache=True)
def _fullest(room, task, source):  # type: ignore[no-untyped-def]
    """The fullest awake host in time; with a ``source``, one that is at least as full as it."""
    best, most = -1, -1.0
    least = 0.0 if source < 0 else fullness(room, source)
    for host in range(len(room.hosts.cores)):
        full = fullness(room, host)
        if host != source and room.load.awake[host] and full >= least and full > most:
            if fits(room, task, host) and _in_time(room, task, host):
                best, most = host, full
    return best


@njit(cache=True)
def _cheapest_asleep(room, task, order):  # type: ignore[no-untyped-def]
    for host in order:
        if not room.load.awake[host] and fits(room, task, host) and _in_time(room, task, host):
            return host
    return -1


@njit(cache=True)
def _consolidate(room, plan, nearly_empty, worth):  # type: ignore[no-untyped-def]
    for source in np.argsort(room.load.demand / room.hosts.cores, kind="mergesort"):
        if 0.0 < fullness(room, source) <= nearly_empty:
            _empty(room, plan, source, worth)


@njit(cache=True)
def _empty(room, plan, source, worth):  # type: ignore[no-untyped-def]
    """Move every task off ``source``, or leave everything as it was."""
    before, trial = _copy(room.load), plan.copy()
    for task in range(len(plan)):
        if plan[task] == source:
            host = _fullest(room, task, source)
            if host < 0 or time_alone(room, task, source) < worth * time_moving(room, task, host):
                _restore(room.load, before)
                return
            put(room, task, host)
            trial[task] = host
    plan[:] = trial
    # It goes to sleep: nothing else may move there.
    room.load.awake[source] = False
    room.load.demand[source] = 0.0


@njit(cache=True)
def _copy(load):  # type: ignore[no-untyped-def]
    return Load(
        load.memory_free.copy(),
        load.demand.copy(),
        load.needed.copy(),
        load.work.copy(),
        load.longest.copy(),
        load.awake.copy(),
    )


@njit(cache=True)
def _restore(load, before):  # type: ignore[no-untyped-def]
    load.memory_free[:] = before.memory_free
    load.demand[:] = before.demand
    load.needed[:] = before.needed
    load.work[:] = before.work
    load.longest[:] = before.longest
    load.awake[:] = before.awake
