"""``gosh``: second-order descent on a surrogate that knows how sure it is; uncertain plans count as dearer (GOSH)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from trimtab.policies.assign import descent
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.features import view
from trimtab.policies.assign.machines import Machines
from trimtab.policies.assign.surrogate import DEVIATION, HEADS, HostModel, HostSurrogate
from trimtab.policies.parameters import check_parameters
from trimtab.policies.scale import checks
from trimtab.policies.trained import Trained

OUTPUTS = (*HEADS, DEVIATION)


@dataclass
class Gosh:
    """Minimises mean + ``caution`` x standard deviation of the plan's cost, in steps of gradient over curvature."""

    model: HostModel
    machines: Machines
    caution: float = 0.5
    """0 plans by the mean alone."""
    strictness: float = 4.0
    """Violations count this many times their price: a plan looks as if nobody came any more, but others will."""
    worth: float = 5e-3
    """USD that a migration must save by the surrogate's own account, which has its errors."""

    name: ClassVar[str] = "gosh"

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        self.machines.check(hosts)
        seen = view(tasks, hosts, current)
        surrogate, room = HostSurrogate(self.model, seen, self.caution, self.strictness), descent.Room(seen)
        descent.place_new(surrogate, room)
        descent.descend(surrogate, room, tasks.movable, self.worth, surrogate)
        return surrogate.plan


def build(trained: Trained, parameters: dict[str, Any]) -> Gosh:
    """The policy of a trained folder."""
    check_parameters(Gosh.name, parameters, ("caution", "strictness", "worth"))
    given = {name: parameters.get(name, getattr(Gosh, name)) for name in ("caution", "strictness", "worth")}
    for name, value in given.items():
        checks.not_negative(name, value)
    return Gosh(HostModel.of(trained, OUTPUTS), Machines.of(trained), **{n: float(v) for n, v in given.items()})
