"""``first-fit``: the cheapest host with free memory and free cores; a running task stays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import njit

from trimtab.policies.assign.capacity import by_price, fits, has_free_cores, put, room_for, share_with
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable


class FirstFit:
    """Hosts in order of USD per core; where no cores are free, the least overcommitted host."""

    name: ClassVar[str] = "first-fit"

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
            host = _first(room, task, order)
            if host >= 0:
                put(room, task, host)
                plan[task] = host


@njit(cache=True)
def _first(room, task, order):  # type: ignore[no-untyped-def]
    best, most = -1, -np.inf
    for host in order:
        if fits(room, task, host):
            if has_free_cores(room, task, host):
                return host
            share = share_with(room, task, host)
            if share > most:
                best, most = host, share
    return best
