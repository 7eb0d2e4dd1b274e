"""A forecast of demand with an ant colony: what ``arima-aco`` and ``lstm-aco`` have in common."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from trimtab.policies.assign.capacity import records
from trimtab.policies.assign.colony import Colony, Habits, with_energy
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.demand import Demand

HORIZON = 1
"""Intervals that are looked ahead: further ones reserve so much that the tasks at hand are placed worse."""


class Forecast(Protocol):
    """A series that is continued."""

    def add(self, value: float) -> None:
        """The next value of the series."""

    def ahead(self, steps: int) -> float:
        """Sum of the next ``steps`` values to be expected."""


class Foresight:
    """Places tasks with ants, and leaves room for those that are expected.

    The expected tasks of the next intervals are placed by the ants as the others are, so that a plan is judged by
    what is left for them too; nobody carries that part of it out.
    """

    def __init__(self, forecast: Forecast, habits: Habits, seed: int) -> None:
        self.forecast = forecast
        self.colony = Colony(habits, seed)
        self._demand = Demand()

    def watch(self, tasks: TaskTable) -> None:
        """Count what has arrived."""
        self.forecast.add(float(self._demand.watch(tasks)))

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        work, machines, start = records(tasks, hosts, current)
        expected, applications = self._demand.expected(self.forecast.ahead(HORIZON))
        coming = len(expected)
        found = self.colony.improve(
            np.concatenate([work, expected]),
            np.concatenate([tasks.function, applications]).astype(np.int32),
            np.concatenate([tasks.movable, np.zeros(coming, np.bool_)]),
            with_energy(machines, hosts),
            np.concatenate([start, np.full(coming, -1, np.int32)]),
        )
        return found[: len(work)]
