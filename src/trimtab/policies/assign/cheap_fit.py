"""``cheap-fit``: the host on which a new task costs least and still ends in time; a running task stays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trimtab.policies.assign.capacity import (
    completion,
    fits,
    meets_deadlines,
    put,
    records,
    soonest,
    time_alone,
)
from trimtab.policies.assign.compiled import compiled
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
        work, machines, plan = records(tasks, hosts, current)
        _place(work, machines, plan)
        return plan


@compiled
def _place(tasks, hosts, plan):  # type: ignore[no-untyped-def]
    for index in range(len(tasks)):
        if plan[index] < 0:
            host = _cheapest(tasks[index], hosts)
            if host < 0:
                host = soonest(tasks[index], hosts)
            if host >= 0:
                put(tasks[index], hosts[host])
                plan[index] = host


@compiled
def _cheapest(task, hosts):  # type: ignore[no-untyped-def]
    best, least, earliest = -1, np.inf, np.inf
    for index in range(len(hosts)):
        host = hosts[index]
        if fits(task, host) and meets_deadlines(task, host):
            cost, ends = _marginal_cost(task, host), completion(task, host)
            if cost < least or (cost == least and ends < earliest):
                best, least, earliest = index, cost, ends
    return best


@compiled
def _marginal_cost(task, host):  # type: ignore[no-untyped-def]
    """USD by which the bill of the host grows."""
    power = host.cores * host.speed
    before = max(host.work / power, host.longest)
    after = max((host.work + task.remaining) / power, host.longest, time_alone(task, host))
    wake = 0.0 if host.awake else host.wait
    return host.price * (after - before + wake)
