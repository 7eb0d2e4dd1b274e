"""``cheap-fit``: the host on which a new task costs least and still ends in time; a running task stays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import njit

from trimtab.policies.assign.capacity import (
    completion,
    fits,
    meets_deadlines,
    put,
    room_for,
    soonest,
    time_alone,
)
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable


class CheapFit:
    """A host is paid for until it is drained, and sleeps then, so a task costs what it prolongs that.

    drained = max(work / (cores x speed), longest task alone)
    cost = price x (drained with the task - drained without it + wake time if it sleeps)

    Of equal costs the earlier end wins. Where no host is in time, the one on which the task ends first.
    """

    name: ClassVar[str] = "cheap-fit"

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        room, plan = room_for(tasks, hosts, current)
        _place(room, plan)
        return plan


@njit(cache=True)
def _place(room, plan):  # type: ignore[no-untyped-def]
    for task in range(len(plan)):
        if plan[task] < 0:
            host = _cheapest(room, task)
            if host < 0:
                host = soonest(room, task)
            if host >= 0:
                put(room, task, host)
                plan[task] = host


@njit(cache=True)
def _cheapest(room, task):  # type: ignore[no-untyped-def]
    best, least, earliest = -1, np.inf, np.inf
    for host in range(len(room.hosts.cores)):
        if fits(room, task, host) and meets_deadlines(room, task, host):
            cost = _marginal_cost(room, task, host)
            ends = completion(room, task, host)
            if cost < least or (cost == least and ends < earliest):
                best, least, earliest = host, cost, ends
    return best


@njit(cache=True)
def _marginal_cost(room, task, host):  # type: ignore[no-untyped-def]
    """USD by which the bill of the host grows."""
    power = room.hosts.cores[host] * room.hosts.speed[host]
    work, longest = room.load.work[host], room.load.longest[host]
    before = max(work / power, longest)
    after = max((work + room.tasks.remaining[task]) / power, longest, time_alone(room, task, host))
    wake = 0.0 if room.load.awake[host] else room.hosts.wait[host]
    return room.hosts.price[host] * (after - before + wake)
