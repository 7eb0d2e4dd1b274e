"""``cheap-fit``: the host on which a new task costs least and still ends in time; a running task stays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trimtab.policies.assign.capacity import completion, fits, meets_deadlines, put, records, soonest
from trimtab.policies.assign.compiled import compiled
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.drain import added_risk, added_seconds
from trimtab.policies.assign.objective import VIOLATION_PRICE
from trimtab.policies.scale import checks


class CheapFit:
    """A host is paid for until it is drained, and sleeps then, so a task costs what it prolongs that.

    cost = price x (drained with the task - drained without it + wake time if it sleeps)
           + late_price x (late tasks that are to be expected more)

    Of equal costs the earlier end wins. Where no host is in time, the one on which the task ends first.
    """

    name: ClassVar[str] = "cheap-fit"

    def __init__(self, margin: float = 1.5, late_price: float = VIOLATION_PRICE, deviation: float = 0.45) -> None:
        checks.not_negative("margin", margin)
        checks.not_negative("late_price", late_price)
        checks.positive("deviation", deviation)
        self.margin = float(margin)
        """A host is in time if all its tasks are, even if they take this many times as long as expected."""
        self.late_price = float(late_price)
        """USD for a task that is late."""
        self.deviation = float(deviation)
        """Relative standard deviation of the work that a task has left."""

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        work, machines, plan = records(tasks, hosts, current)
        _place(work, machines, plan, self.margin, self.late_price, self.deviation)
        return plan


@compiled
def _place(tasks, hosts, plan, margin, late_price, deviation):  # type: ignore[no-untyped-def]
    for index in range(len(tasks)):
        if plan[index] < 0:
            host = _cheapest(tasks[index], hosts, margin, late_price, deviation)
            if host < 0:
                host = soonest(tasks[index], hosts)
            if host >= 0:
                put(tasks[index], hosts[host])
                plan[index] = host


@compiled
def _cheapest(task, hosts, margin, late_price, deviation):  # type: ignore[no-untyped-def]
    best, least, earliest = -1, np.inf, np.inf
    for index in range(len(hosts)):
        host = hosts[index]
        if fits(task, host) and meets_deadlines(task, host, margin):
            cost = host.price * added_seconds(task, host)
            if late_price > 0.0:
                cost += late_price * added_risk(task, host, deviation)
            ends = completion(task, host)
            if cost < least or (cost == least and ends < earliest):
                best, least, earliest = index, cost, ends
    return best
