"""``arima-aco``: ARIMA forecasts demand, an ant colony places the tasks and leaves room for those to come."""

from __future__ import annotations

import copy
from typing import ClassVar

from trimtab.policies.assign.arima import Arima
from trimtab.policies.assign.colony import Habits
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.foresight import Foresight


class ArimaAco:
    """MetaNet's first baseline: AutoARIMA and ant colony optimisation."""

    name: ClassVar[str] = "arima-aco"

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget demand and pheromone; draw from ``seed`` from now on."""
        self._mind = Foresight(Arima(), Habits(), seed)

    def __copy__(self) -> ArimaAco:
        """A copy goes its own way."""
        other = ArimaAco.__new__(ArimaAco)
        other._mind = copy.deepcopy(self._mind)
        return other

    def watch(self, tasks: TaskTable, hosts: HostTable, now: float) -> None:
        """Count what has arrived."""
        self._mind.watch(tasks)

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        return self._mind.plan(tasks, hosts, current)
