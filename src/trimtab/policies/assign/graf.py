"""``graf``: gradient descent through a graph network that predicts each task's latency and each host's cost (GRAF)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trimtab.policies.assign import descent
from trimtab.policies.assign.contract import Floats, HostTable, Ints, TaskTable
from trimtab.policies.assign.dense import Dense, names_of, network_of, sigmoid
from trimtab.policies.assign.features import FEATURES, LOAD, MACHINE, View, view
from trimtab.policies.assign.machines import Machines
from trimtab.policies.assign.objective import ENERGY_PRICE, VIOLATION_PRICE
from trimtab.policies.assign.surrogate import sizes_of
from trimtab.policies.parameters import check_parameters
from trimtab.policies.scale import checks
from trimtab.policies.trained import Trained

MESSAGE = 16
"""Numbers in a message along an edge between a task and a host."""
COSTS = 2
"""Seconds until drained and kWh; the outputs after them are what a host tells its tasks."""
OUTPUTS = COSTS + MESSAGE + 1
_PRICE = MACHINE.index("price")


@dataclass(frozen=True)
class GraphModel:
    """Two rounds of messages on the graph of tasks and hosts, an edge weighted by its entry of X.

    message[t, h] = tanh(edge[t, h] W + b)                  what task t tells host h
    host[h] = network(machine[h], sum over t of X[t, h] message[t, h])    its cost, and its answer
    lateness[t, h] = answer[h] . (message[t, h], 1)         log of (time to the end / time to the deadline)
    """

    mean: Floats
    scale: Floats
    """Of ``FEATURES``, for machines and edges alike."""
    message: tuple[Floats, Floats]
    network: Dense
    unit: Floats
    """Of the two costs."""
    doubt: float
    """Standard deviation of the lateness around its prediction, as seen in training."""

    @classmethod
    def of(cls, trained: Trained) -> GraphModel:
        """The model of a trained folder."""
        sizes = sizes_of(trained.description.settings, len(MACHINE) + MESSAGE, OUTPUTS)
        shapes: dict[str, tuple[int, ...]] = {"mean": (len(FEATURES),), "scale": (len(FEATURES),), "unit": (COSTS,)}
        shapes |= {"doubt": ()} | names_of("message", (len(LOAD), MESSAGE)) | names_of("host", sizes)
        trained.expect(FEATURES, shapes)
        arrays = {name: array.astype(np.float64) for name, array in trained.arrays.items()}
        (message,) = network_of("message", (len(LOAD), MESSAGE), arrays).layers
        network, doubt = network_of("host", sizes, arrays), float(arrays["doubt"])
        if doubt <= 0.0:
            raise ValueError(f"doubt = {doubt:g}, must be above 0")
        return cls(arrays["mean"], arrays["scale"], message, network, arrays["unit"], doubt)

    def messages(self, edges: Floats) -> Floats:
        """Of all edges; they do not depend on the plan."""
        part = slice(len(MACHINE), None)
        return np.tanh((edges - self.mean[part]) / self.scale[part] @ self.message[0] + self.message[1])

    def machines(self, machine: Floats) -> Floats:
        """Machines in the network's units."""
        part = slice(len(MACHINE))
        return (machine - self.mean[part]) / self.scale[part]


class GraphSurrogate:
    """The model of one decision: holds a plan, and knows the objective and its gradient there."""

    def __init__(self, model: GraphModel, seen: View, strictness: float = 1.0) -> None:
        self.model, self.view = model, seen
        self._violation = strictness * VIOLATION_PRICE
        self.plan = seen.start.copy()
        self.messages = model.messages(seen.edges)
        self._machines = model.machines(seen.machine)
        count = len(seen.hosts)
        nothing = np.zeros((count, MESSAGE))
        self._empty = model.network.forward(np.concatenate([self._machines, nothing], axis=1)).outputs
        prices = np.column_stack([seen.machine[:, _PRICE] / 3600.0, np.full(count, ENERGY_PRICE)])
        self._prices = prices * model.unit
        self.costs = np.zeros(count)
        self._slopes = np.zeros((count, MESSAGE))
        self._answers = np.zeros((count, MESSAGE + 1))
        self._look(np.arange(count, dtype=np.int32))

    @property
    def value(self) -> float:
        """The objective of the plan."""
        return float(self.costs.sum())

    def _members(self, hosts: Ints) -> Floats:
        """Hosts by tasks: 1 where the plan puts the task there."""
        found: Floats = (self.plan[None, :] == hosts[:, None]).astype(np.float64)
        return found

    def _judged(self, hosts: Ints, members: Floats) -> tuple[Floats, Floats, Floats]:
        """Cost of hosts with these tasks, its gradient by the sum of messages, and their answers."""
        model, rows = self.model, np.arange(len(hosts))
        heard = np.matmul(members[:, None, :], self.messages[:, hosts].transpose(1, 0, 2))[:, 0]
        made = model.network.forward(np.concatenate([self._machines[hosts], heard], axis=1))
        answers = made.outputs[:, COSTS:]
        row, task = np.nonzero(members > 0.0)
        chance = self._late(self.messages[task, hosts[row]], answers[row])
        busy = members.sum(axis=1) > 0.5
        cost = np.where(busy, ((made.outputs - self._empty[hosts])[:, :COSTS] * self._prices[hosts]).sum(axis=1), 0.0)
        np.add.at(cost, row, self._violation * chance)
        weights = np.zeros((len(rows), OUTPUTS))
        weights[:, :COSTS] = self._prices[hosts]
        steep = self._violation * chance * (1.0 - chance) / model.doubt
        np.add.at(weights[:, COSTS:-1], row, steep[:, None] * self.messages[task, hosts[row]])
        np.add.at(weights[:, -1], row, steep)
        return cost, model.network.backward(made, weights)[:, len(MACHINE) :], answers

    def _late(self, messages: Floats, answers: Floats) -> Floats:
        """Chance that a task ends after its deadline."""
        lateness = (messages * answers[..., :-1]).sum(axis=-1) + answers[..., -1]
        return sigmoid(lateness / self.model.doubt)

    def _look(self, hosts: Ints) -> None:
        found = self._judged(hosts, self._members(hosts))
        self.costs[hosts], self._slopes[hosts], self._answers[hosts] = found

    def gradient(self, tasks: Ints) -> Floats:
        """Of the objective by the rows of the relaxed assignment matrix that belong to ``tasks``: what the task does to
        the host and to the others there, and the chance that it is late itself."""
        messages = self.messages[tasks]
        others = np.einsum("thm,hm->th", messages, self._slopes)
        lateness = np.einsum("thm,hm->th", messages, self._answers[:, :-1]) + self._answers[:, -1]
        found: Floats = others + self._violation * sigmoid(lateness / self.model.doubt)
        return found

    def gains(self, tasks: Ints, targets: Ints) -> Floats:
        """What the objective falls by, for each of these moves by itself; a task without a host only adds its cost."""
        members, rows = self._members(targets), np.arange(len(tasks))
        members[rows, tasks] = 1.0
        gain = self.costs[targets] - self._judged(targets, members)[0]
        leaving = np.flatnonzero(self.plan[tasks] >= 0)
        if len(leaving) > 0:
            sources = self.plan[tasks[leaving]]
            members = self._members(sources)
            members[np.arange(len(leaving)), tasks[leaving]] = 0.0
            gain[leaving] += self.costs[sources] - self._judged(sources, members)[0]
        return gain

    def move(self, tasks: Ints, targets: Ints) -> None:
        """Put tasks elsewhere."""
        touched = np.unique(np.concatenate([targets, self.plan[tasks]]))
        self.plan[tasks] = targets
        self._look(touched[touched >= 0].astype(np.int32))


@dataclass
class Graf:
    """Descends along the gradient of hosts' costs plus a penalty for every task that may miss its deadline."""

    model: GraphModel
    machines: Machines
    strictness: float = 4.5
    """Violations count this many times their price: a plan looks as if nobody came any more, but others will."""
    worth: float = 1e-2
    """USD that a migration must save by the surrogate's own account, which has its errors."""

    name: ClassVar[str] = "graf"

    def reset(self, seed: int) -> None:
        """Nothing is remembered and nothing drawn."""

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """A host for each task."""
        self.machines.check(hosts)
        seen = view(tasks, hosts, current)
        surrogate, room = GraphSurrogate(self.model, seen, self.strictness), descent.Room(seen)
        descent.place_new(surrogate, room)
        descent.descend(surrogate, room, tasks.movable, self.worth)
        return surrogate.plan


def build(trained: Trained, parameters: dict[str, Any]) -> Graf:
    """The policy of a trained folder."""
    check_parameters(Graf.name, parameters, ("strictness", "worth"))
    given = {name: parameters.get(name, getattr(Graf, name)) for name in ("strictness", "worth")}
    for name, value in given.items():
        checks.not_negative(name, value)
    return Graf(GraphModel.of(trained), Machines.of(trained), **{n: float(v) for n, v in given.items()})
