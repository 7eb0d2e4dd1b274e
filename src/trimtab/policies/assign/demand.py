"""Demand as a scheduler sees it: what arrives in an interval, and the tasks that a forecast makes of it."""

from __future__ import annotations

import numpy as np

from trimtab.policies.assign.capacity import TASK, Records
from trimtab.policies.assign.contract import Floats, Ints, TaskTable

_FADING = 0.97
"""Weight of the mix of applications after an interval: it halves in about 23 of them."""


class Demand:
    """Counts arrivals, and remembers what a task of each application is like."""

    def __init__(self) -> None:
        self._latest = -1
        """The highest identity seen: later tasks have higher ones."""
        self._weights: Floats = np.zeros(0)
        """Recent arrivals of each application, older ones faded."""
        self._kinds: Records = np.zeros(0, TASK)
        """The last new task of each application."""

    def watch(self, tasks: TaskTable) -> int:
        """Note the tasks that have come since the last call; returns how many."""
        new = np.flatnonzero(tasks.request > self._latest)
        self._weights = self._weights * _FADING
        if len(new) == 0:
            return 0
        self._latest = int(tasks.request.max())
        self._make_room(int(tasks.function[new].max()) + 1)
        np.add.at(self._weights, tasks.function[new], 1.0)
        for index in new:
            kind = self._kinds[tasks.function[index]]
            kind["remaining"], kind["cores"] = max(tasks.remaining[index], 0.0), tasks.cores[index]
            kind["memory"], kind["time_left"] = tasks.memory[index], tasks.deadline[index]
            kind["place"], kind["bandwidth"] = -1, np.inf
        return len(new)

    def _make_room(self, applications: int) -> None:
        missing = applications - len(self._weights)
        if missing > 0:
            self._weights = np.concatenate([self._weights, np.zeros(missing)])
            self._kinds = np.concatenate([self._kinds, np.zeros(missing, TASK)])

    def expected(self, count: float) -> tuple[Records, Ints]:
        """About ``count`` tasks in the recent mix of applications, and the application of each."""
        whole, total = round(max(count, 0.0)), float(self._weights.sum())
        if whole == 0 or total <= 0.0:
            return np.zeros(0, TASK), np.zeros(0, np.int32)
        shares = whole * self._weights / total
        numbers = np.floor(shares).astype(np.int64)
        # the largest remainders are rounded up
        for application in np.argsort(numbers - shares, kind="stable")[: whole - int(numbers.sum())]:
            numbers[application] += 1
        applications = np.repeat(np.arange(len(numbers)), numbers)
        return self._kinds[applications], applications.astype(np.int32)
