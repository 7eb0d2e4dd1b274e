"""``semi-direct``: a network that knows how sure it is, and random changes of the plan that it approves of."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from trimtab.policies.assign.contract import Bools, HostTable, Ints, TaskTable
from trimtab.policies.assign.descent import Room
from trimtab.policies.assign.features import view
from trimtab.policies.assign.machines import Machines
from trimtab.policies.assign.surrogate import DEVIATION, HEADS, HostModel, HostSurrogate
from trimtab.policies.assign.ties import first_best
from trimtab.policies.parameters import check_parameters
from trimtab.policies.scale import checks
from trimtab.policies.trained import Trained

OUTPUTS = (*HEADS, DEVIATION)
ROUNDS, PROPOSALS = 8, 64
PARAMETERS = {"caution": 0.5, "strictness": 2.5, "worth": 3e-3}


class SemiDirect:
    """Stochastic search from the current plan on mean + ``caution`` x deviation of the cost that is predicted."""

    name: ClassVar[str] = "semi-direct"

    def __init__(self, model: HostModel, machines: Machines, caution: float, strictness: float, worth: float) -> None:
        self.model, self.machines = model, machines
        self.caution = caution
        self.strictness = strictness
        """Violations count this many times their price: a plan looks as if nobody came any more, but others will."""
        self.worth = worth
        """USD that a migration must save."""
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Draw from ``seed`` from now on."""
        self._stream = np.random.default_rng(seed)

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        self.machines.check(hosts)
        seen = view(tasks, hosts, current)
        surrogate, room = HostSurrogate(self.model, seen, self.caution, self.strictness), Room(seen)
        for task in np.flatnonzero(surrogate.plan < 0).astype(np.int32):
            self._propose(surrogate, room, np.full(PROPOSALS, task, np.int32))
        loose = np.flatnonzero((tasks.movable | (seen.start < 0)) & (surrogate.plan >= 0)).astype(np.int32)
        if len(loose) > 0:
            for _ in range(ROUNDS):
                self._propose(surrogate, room, self._stream.choice(loose, PROPOSALS))
        return surrogate.plan

    def _propose(self, surrogate: HostSurrogate, room: Room, tasks: Ints) -> None:
        """Random hosts for these tasks; the best of the changes is made if it pays."""
        targets = self._targets(surrogate, room.open(tasks))
        kept = np.flatnonzero((targets >= 0) & (targets != surrogate.plan[tasks]))
        if len(kept) == 0:
            return
        tasks, targets = tasks[kept], targets[kept]
        sources = surrogate.plan[tasks]
        migrates = (room.start[tasks] >= 0) & (targets != room.start[tasks])
        gains = surrogate.gains(tasks, targets) - self.worth * migrates
        best = first_best(gains)
        # a task without a host must get one, whatever it costs
        if gains[best] > 0.0 or sources[best] < 0:
            room.take(int(tasks[best]), int(sources[best]), int(targets[best]))
            surrogate.move(tasks[best : best + 1], targets[best : best + 1])

    def _targets(self, surrogate: HostSurrogate, allowed: Bools) -> Ints:
        """For each row any host that is allowed, two times out of three one with tasks; -1 where there is none."""
        liking = self._stream.random(allowed.shape)
        busy = self._stream.random(len(allowed)) < 2.0 / 3.0
        liking[busy] += surrogate.loads[:, 0] > 0.5
        liking[~allowed] = -1.0
        best = np.argmax(liking, axis=1)
        return np.where(allowed.any(axis=1), best, -1).astype(np.int32)


def build(trained: Trained, parameters: dict[str, Any]) -> SemiDirect:
    """The policy of a trained folder."""
    check_parameters(SemiDirect.name, parameters, PARAMETERS)
    given = PARAMETERS | parameters
    for name, value in given.items():
        checks.not_negative(name, value)
    model, machines = HostModel.of(trained, OUTPUTS), Machines.of(trained)
    return SemiDirect(model, machines, **{name: float(value) for name, value in given.items()})
