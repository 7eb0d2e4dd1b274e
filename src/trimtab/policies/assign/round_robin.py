"""``round-robin``: new tasks go round the hosts, past those without the memory; a running one stays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trimtab.policies.assign.capacity import records
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable


class RoundRobin:
    """It remembers where it stopped."""

    name: ClassVar[str] = "round-robin"

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start at the first host; nothing is drawn."""
        self._next = 0

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        _, machines, plan = records(tasks, hosts, current)
        free = np.where(machines["usable"], machines["memory_free"], -1.0)
        for task in np.flatnonzero(plan < 0):
            fitting = np.flatnonzero(free >= tasks.memory[task])
            if len(fitting) > 0:
                host = fitting[np.searchsorted(fitting, self._next) % len(fitting)]
                free[host] -= tasks.memory[task]
                plan[task] = host
                self._next = (int(host) + 1) % len(free)
        return plan
