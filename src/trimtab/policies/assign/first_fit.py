"""``first-fit``: the cheapest host with free memory and free cores; a running task stays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trimtab.policies.assign.capacity import by_price, fits, has_free_cores, put, records, share_with
from trimtab.policies.assign.compiled import compiled
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable


class FirstFit:
    """Hosts in order of USD per core; where no cores are free, the least overcommitted host."""

    name: ClassVar[str] = "first-fit"

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
            host = _first(tasks[index], hosts, order)
            if host >= 0:
                put(tasks[index], hosts[host])
                plan[index] = host


@compiled
def _first(task, hosts, order):  # type: ignore[no-untyped-def]
    best, most = -1, -np.inf
    for index in order:
        if fits(task, hosts[index]):
            if has_free_cores(task, hosts[index]):
                return index
            share = share_with(task, hosts[index])
            if share > most:
                best, most = index, share
    return best
