"""What an assign policy sees and answers: a host for each task, starting from the current plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

ON, WAKING, HIBERNATED, DOWN = 0, 1, 2, 3
"""Values of ``HostTable.state``."""


@dataclass(frozen=True, slots=True)
class TaskTable:
    """Every task that has arrived and not ended, one array a column."""

    request: Ints
    """Identity of the task, stable from interval to interval."""
    function: Ints
    """Index of its application."""
    age: Floats
    """Seconds since its arrival."""
    remaining: Floats
    """Expected core-seconds that are left (mean work of the application less what was done)."""
    cores: Floats
    """Cores that it can use at most."""
    memory: Floats
    """Bytes."""
    deadline: Floats
    """Seconds from arrival; infinite where there is none."""
    disk: Floats
    """Bytes a second that it reads and writes while it has all the cores that it can use."""
    movable: Bools
    """Whether it can be put elsewhere now: not while it migrates or waits for its host, nor before it began there."""


@dataclass(frozen=True, slots=True)
class HostTable:
    """The machines, one array a column."""

    cores: Floats
    speed: Floats
    memory: Floats
    """Bytes in all."""
    price: Floats
    """USD an hour."""
    power_idle: Floats
    """Watts at 0 % CPU."""
    power_full: Floats
    """Watts at 100 % CPU."""
    state: Ints
    wake: float
    """Seconds that a hibernated host needs."""
    delay: Floats
    """Mean one-way network delay from the gateways, in seconds."""
    bandwidth: Floats
    """Bytes per second for migrations."""
    disk: Floats
    """Bytes a second that its disk gives."""


class AssignPolicy(Protocol):
    """An assign policy; it may keep state of its own between calls and must be seeded.

    One that learns from the past has ``watch(tasks, hosts, now)`` too: it is called once an interval, before
    anybody plans, whether this policy decides in it or not.
    """

    @property
    def name(self) -> str:
        """Its fixed name."""

    def reset(self, seed: int) -> None:
        """Forget everything; draw from ``seed`` from now on."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task; -1 leaves it waiting. ``current`` is -1 for tasks with no host yet."""
