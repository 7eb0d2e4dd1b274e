"""``random``: a new task goes to any host that has the memory; a running one stays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trimtab.policies.assign.capacity import records
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable


class Random:
    """Uniform over the hosts that fit."""

    name: ClassVar[str] = "random"

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start the stream of draws anew."""
        self._stream = np.random.default_rng(seed)

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        _, machines, plan = records(tasks, hosts, current)
        free = np.where(machines["usable"], machines["memory_free"], -1.0)
        for task in np.flatnonzero(plan < 0):
            candidates = np.flatnonzero(free >= tasks.memory[task])
            if len(candidates) > 0:
                host = candidates[self._stream.integers(len(candidates))]
                free[host] -= tasks.memory[task]
                plan[task] = host
        return plan
