"""``lstm-aco``: an LSTM forecasts demand, an ant colony places the tasks and leaves room for those to come."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from trimtab.policies.assign.colony import Habits
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.foresight import Foresight
from trimtab.policies.assign.lstm import FEATURES, Cell, Lstm
from trimtab.policies.parameters import check_parameters
from trimtab.policies.trained import Trained


class LstmAco:
    """MetaNet's second baseline: a recurrent network and ant colony optimisation."""

    name: ClassVar[str] = "lstm-aco"

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget demand and pheromone; draw from ``seed`` from now on."""
        self._mind = Foresight(Lstm(self._cell), Habits(), seed)

    def __copy__(self) -> LstmAco:
        """A copy goes its own way."""
        other = LstmAco.__new__(LstmAco)
        other._cell, other._mind = self._cell, copy.deepcopy(self._mind)
        return other

    def watch(self, tasks: TaskTable, hosts: HostTable, now: float) -> None:
        """Count what has arrived."""
        self._mind.watch(tasks)

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        return self._mind.plan(tasks, hosts, current)


def build(trained: Trained, parameters: dict[str, Any]) -> LstmAco:
    """The policy of a trained folder."""
    check_parameters(LstmAco.name, parameters, ())
    hidden = trained.description.settings["hidden"]
    if not isinstance(hidden, int) or not 0 < hidden <= 256:
        raise ValueError(f"hidden = {hidden!r}, must be a whole number from 1 to 256")
    gates = 4 * hidden
    shapes = {"inward": (gates,), "recurrent": (hidden, gates), "bias": (gates,), "outward": (hidden,), "offset": (1,)}
    trained.expect(FEATURES, shapes)
    arrays = {name: trained.arrays[name].astype(np.float64) for name in shapes}
    offset = float(arrays.pop("offset")[0])
    return LstmAco(Cell(**arrays, offset=offset))
