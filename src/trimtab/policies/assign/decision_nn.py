"""``decision-nn``: a network trained in tandem with the decisions made by it, and a local search from the plan."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.descent import Room
from trimtab.policies.assign.features import view
from trimtab.policies.assign.machines import Machines
from trimtab.policies.assign.surrogate import HEADS, HostModel, HostSurrogate
from trimtab.policies.assign.ties import falling, first_best
from trimtab.policies.parameters import check_parameters
from trimtab.policies.scale import checks
from trimtab.policies.trained import Trained

ROUNDS, TRIED = 4, 6
"""Moves at most, and tasks that are tried for each."""
PARAMETERS = {"strictness": 8.0, "worth": 5e-3}


class DecisionNn:
    """Scores (task, host) choices by what the network says that they add to the bill until drained.

    New tasks go where they add least. Then the tasks whose hosts cost most are tried everywhere else, and the best
    move is made while it pays.
    """

    name: ClassVar[str] = "decision-nn"

    def __init__(self, model: HostModel, machines: Machines, strictness: float, worth: float) -> None:
        self.model, self.machines = model, machines
        self.strictness = strictness
        """Violations count this many times their price: a plan looks as if nobody came any more, but others will."""
        self.worth = worth
        """USD that a migration must save."""

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        self.machines.check(hosts)
        seen = view(tasks, hosts, current)
        surrogate, room = HostSurrogate(self.model, seen, strictness=self.strictness), Room(seen)
        for task in np.flatnonzero(surrogate.plan < 0).astype(np.int32):
            _move_best(surrogate, room, np.array([task], np.int32), -np.inf)
        loose = np.flatnonzero(tasks.movable & (seen.start >= 0)).astype(np.int32)
        for _ in range(ROUNDS if len(loose) > 0 else 0):
            if not _move_best(surrogate, room, _dearest(surrogate, loose), self.worth):
                break
        return surrogate.plan


def _dearest(surrogate: HostSurrogate, loose: Ints) -> Ints:
    """The tasks whose hosts cost most for each of their tasks."""
    places = surrogate.plan[loose]
    each = surrogate.means[places] / np.maximum(surrogate.loads[places, 0], 1.0)
    return loose[falling(each)[:TRIED]]


def _move_best(surrogate: HostSurrogate, room: Room, tasks: Ints, worth: float) -> bool:
    """Make the best of all moves of these tasks, if it gains more than ``worth``."""
    rows, targets = np.nonzero(room.open(tasks))
    moved, targets = tasks[rows], targets.astype(np.int32)
    elsewhere = surrogate.plan[moved] != targets
    moved, targets = moved[elsewhere], targets[elsewhere]
    if len(moved) == 0:
        return False
    gains = surrogate.gains(moved, targets)
    best = first_best(gains)
    if gains[best] <= worth:
        return False
    room.take(int(moved[best]), int(surrogate.plan[moved[best]]), int(targets[best]))
    surrogate.move(moved[best : best + 1], targets[best : best + 1])
    return True


def build(trained: Trained, parameters: dict[str, Any]) -> DecisionNn:
    """The policy of a trained folder."""
    check_parameters(DecisionNn.name, parameters, PARAMETERS)
    given = PARAMETERS | parameters
    for name, value in given.items():
        checks.not_negative(name, value)
    model, machines = HostModel.of(trained, HEADS), Machines.of(trained)
    return DecisionNn(model, machines, **{name: float(value) for name, value in given.items()})
