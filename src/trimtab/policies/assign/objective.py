"""What every scheduler that searches minimises: money, energy and missed deadlines until all planned work is done.

    objective = host USD + ENERGY_PRICE x kWh + VIOLATION_PRICE x tasks that end late

A host is paid for until its last task ends, waking included, and sleeps then. The cost of one interval alone would
reward whoever defers work; until the tasks have drained, work that waits is paid for all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from trimtab.policies.assign.capacity import cores_used, records, time_moving
from trimtab.policies.assign.compiled import compiled
from trimtab.policies.assign.contract import Floats, HostTable, Ints, TaskTable

ENERGY_PRICE = 0.10
"""USD a kWh."""
VIOLATION_PRICE = 0.01
"""USD for a task that ends after its deadline."""
JOULES = 3.6e6
"""In a kWh."""

_Number = TypeVar("_Number", float, Floats)


def priced(usd: _Number, kwh: _Number, violations: _Number) -> _Number:
    """The objective in USD."""
    return usd + ENERGY_PRICE * kwh + VIOLATION_PRICE * violations


@dataclass(frozen=True)
class Bill:
    """What a plan is expected to cost, one value a host."""

    usd: Floats
    kwh: Floats
    violations: Floats
    seconds: Floats
    """Until the host has drained."""

    @property
    def total(self) -> float:
        """The objective of the whole plan."""
        return float(priced(self.usd, self.kwh, self.violations).sum())


def expected(tasks: TaskTable, hosts: HostTable, current: Ints, plan: Ints) -> Bill:
    """The bill of a plan if every task has just the work that is expected of it, and nobody comes or moves any more.

    Tasks that wait (-1) cost nothing here: compare plans that place the same tasks.
    """
    work, machines, _ = records(tasks, hosts, current)
    found = np.zeros((4, len(machines)))
    for host in np.unique(plan[plan >= 0]):
        members = np.flatnonzero(plan == host)
        watts = float(hosts.power_idle[host]), float(hosts.power_full[host])
        found[:, host] = host_bill(work, machines[host], members, *watts)
    return Bill(*found)


@compiled
def host_bill(tasks, host, members, idle, full):  # type: ignore[no-untyped-def]
    """USD, kWh, tasks that end late, and seconds until drained, of one host with the tasks ``members``.

    The CPU is shared max-min fairly, each task capped at its own cores, as in the engine. ``idle`` and ``full`` are
    the watts at both ends of the power curve, taken as a straight line.
    """
    left, starts = np.empty(len(members)), np.empty(len(members))
    for place in range(len(members)):
        task = tasks[members[place]]
        left[place] = max(task.remaining, 1e-9)
        starts[place] = max(host.wait, time_moving(task, host) + (0.5 * host.delay if task.place < 0 else 0.0))
    now, busy, late = 0.0, 0.0, 0.0
    rates = np.zeros(len(members))
    while True:
        step = share_out(tasks, host, members, left, starts, now, rates)
        if step == np.inf:
            break
        for place in range(len(members)):
            if rates[place] > 0.0:
                busy += rates[place] * step
                left[place] -= rates[place] * host.speed * step
                if left[place] <= 1e-9:
                    left[place] = 0.0
                    late += now + step + 0.5 * host.delay > tasks[members[place]].time_left
        now += step
    energy = (idle * now + (full - idle) * busy / host.cores) / JOULES
    return host.price * now, energy, late, now


@compiled
def share_out(tasks, host, members, left, starts, now, rates):  # type: ignore[no-untyped-def]
    """Set the cores that each task has from ``now`` on; returns the seconds until that changes."""
    step, open_tasks, free = np.inf, 0, host.cores
    for place in range(len(members)):
        rates[place] = 0.0
        if left[place] > 0.0:
            if starts[place] > now:
                step = min(step, starts[place] - now)
            else:
                rates[place] = -1.0
                open_tasks += 1
    settled = True
    while open_tasks > 0 and settled:  # those whose cap is below an equal share leave the rest to others
        settled, level = False, free / open_tasks
        for place in range(len(members)):
            cap = cores_used(tasks[members[place]], host)
            if rates[place] < 0.0 and cap <= level:
                rates[place] = cap
                free -= cap
                open_tasks -= 1
                settled = True
    for place in range(len(members)):
        if rates[place] < 0.0:
            rates[place] = free / open_tasks
        if rates[place] > 0.0:
            step = min(step, left[place] / (rates[place] * host.speed))
    return step
