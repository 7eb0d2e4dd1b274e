"""``gobi``: gradient descent on the inputs of a trained surrogate of cost, energy and deadlines (GOBI, of COSCO)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from trimtab.policies.assign import descent
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.features import view
from trimtab.policies.assign.machines import Machines
from trimtab.policies.assign.surrogate import HEADS, HostModel, HostSurrogate
from trimtab.policies.parameters import check_parameters
from trimtab.policies.scale import checks
from trimtab.policies.trained import Trained


@dataclass
class Gobi:
    """First-order: rows of the assignment matrix follow their gradient with momentum and an annealed rate."""

    model: HostModel
    machines: Machines
    strictness: float = 3.5
    """Violations count this many times their price: a plan looks as if nobody came any more, but others will."""
    worth: float = 1e-2
    """USD that a migration must save by the surrogate's own account, which has its errors."""

    name: ClassVar[str] = "gobi"

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        self.machines.check(hosts)
        seen = view(tasks, hosts, current)
        surrogate, room = HostSurrogate(self.model, seen, strictness=self.strictness), descent.Room(seen)
        descent.place_new(surrogate, room)
        descent.descend(surrogate, room, tasks.movable, self.worth)
        return surrogate.plan


def build(trained: Trained, parameters: dict[str, Any]) -> Gobi:
    """The policy of a trained folder."""
    check_parameters(Gobi.name, parameters, ("strictness", "worth"))
    given = {name: parameters.get(name, getattr(Gobi, name)) for name in ("strictness", "worth")}
    for name, value in given.items():
        checks.not_negative(name, value)
    return Gobi(HostModel.of(trained, HEADS), Machines.of(trained), **{n: float(v) for n, v in given.items()})
