"""Surrogates of ``metanet``: a state [W, H, S] and a policy in, two numbers out, φ̂ and ω̂ before their sigmoid.

``perceptron``  the paper's: all of the state and the policy side by side, three layers of 64
``graph``       applications and hosts are nodes, S are the edges between them; the paper leaves other networks to
                future work
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from trimtab.errors import unknown
from trimtab.policies.assign.dense import names_of
from trimtab.policies.select import perceptron
from trimtab.policies.select.perceptron import Floats, Pass, Weights

LAYERS = (64, 64, 64)
OUTPUTS = 2
"""φ̂ and ω̂."""
RESOURCES = 3
"""CPU, memory and disk, of an application and of a host."""
NODE = 16
"""Numbers that a node of the graph tells its neighbours."""

Ints = npt.NDArray[np.int64]


class Sizes(NamedTuple):
    """Of the state, and how many policies there are."""

    applications: int
    hosts: int
    policies: int

    @property
    def features(self) -> int:
        """Length of [W, H, S]."""
        return RESOURCES * (self.applications + self.hosts) + self.applications * self.hosts


class Surrogate(Protocol):
    """A network that can be descended along its weights."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of its weights, by name."""

    def drawn(self, random: np.random.Generator) -> Weights:
        """First weights."""

    def forward(self, weights: Weights, states: Floats, policies: Ints) -> Any:
        """A pass over rows of states and the policy of each; it has ``outputs``."""

    def backward(self, weights: Weights, made: Any, signal: Floats) -> Weights:
        """Gradients by the weights, where ``signal`` is the gradient by the outputs."""


class PerceptronSurrogate:
    """The paper's network."""

    def __init__(self, sizes: Sizes) -> None:
        self._policies = np.eye(sizes.policies)
        self._layers = (sizes.features + sizes.policies, *LAYERS, OUTPUTS)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of its weights."""
        return names_of("surrogate", self._layers)

    def drawn(self, random: np.random.Generator) -> Weights:
        """First weights."""
        return perceptron.drawn("surrogate", self._layers, random)

    def forward(self, weights: Weights, states: Floats, policies: Ints) -> Pass:
        """One pass."""
        return perceptron.forward(weights, "surrogate", np.concatenate([states, self._policies[policies]], axis=1))

    def backward(self, weights: Weights, made: Pass, signal: Floats) -> Weights:
        """Gradients."""
        return perceptron.backward(weights, "surrogate", made, signal)[0]


class _GraphPass(NamedTuple):
    outputs: Floats
    head: Pass
    workload: Floats
    machines: Floats
    graph: Floats
    tasks: Floats
    hosts: Floats
    heard: Floats
    answers: Floats


class GraphSurrogate:
    """Applications tell the hosts that they are on, hosts answer, and a dense network reads the mean of both.

    tasks    a = ReLU(W · use + application)
    hosts    h = ReLU(H · load + host + Sᵀ a · message)
    answers  v = ReLU(a · self + S h · reply)
    """

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._policies = np.eye(sizes.policies)
        self._layers = (2 * NODE + sizes.policies, *LAYERS[:-1], OUTPUTS)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of its weights."""
        nodes = {
            "use": (RESOURCES, NODE),
            "application": (self._sizes.applications, NODE),
            "load": (RESOURCES, NODE),
            "host": (self._sizes.hosts, NODE),
            "message": (NODE, NODE),
            "self": (NODE, NODE),
            "reply": (NODE, NODE),
        }
        return nodes | names_of("head", self._layers)

    def drawn(self, random: np.random.Generator) -> Weights:
        """First weights; nodes begin alike."""
        found: Weights = {}
        for name in ("use", "load", "message", "self", "reply"):
            wide, narrow = self.shapes()[name]
            found[name] = random.normal(0.0, np.sqrt(1.0 / wide), (wide, narrow))
        for name in ("application", "host"):
            found[name] = np.zeros(self.shapes()[name])
        return found | perceptron.drawn("head", self._layers, random)

    def forward(self, weights: Weights, states: Floats, policies: Ints) -> _GraphPass:
        """One pass."""
        rows, (applications, hosts, _) = len(states), self._sizes
        first, second = RESOURCES * applications, RESOURCES * (applications + hosts)
        workload = states[:, :first].reshape(rows, applications, RESOURCES)
        machines = states[:, first:second].reshape(rows, hosts, RESOURCES)
        graph = states[:, second:].reshape(rows, applications, hosts)
        tasks = np.maximum(workload @ weights["use"] + weights["application"], 0.0)
        heard = graph.transpose(0, 2, 1) @ tasks
        nodes = np.maximum(machines @ weights["load"] + weights["host"] + heard @ weights["message"], 0.0)
        replies = graph @ nodes
        answers = np.maximum(tasks @ weights["self"] + replies @ weights["reply"], 0.0)
        read = np.concatenate([nodes.mean(1), answers.mean(1), self._policies[policies]], axis=1)
        head = perceptron.forward(weights, "head", read)
        return _GraphPass(head.outputs, head, workload, machines, graph, tasks, nodes, heard, answers)

    def backward(self, weights: Weights, made: _GraphPass, signal: Floats) -> Weights:
        """Gradients, from the dense network back through both rounds."""
        found, read = perceptron.backward(weights, "head", made.head, signal)
        applications, hosts, _ = self._sizes
        answers = read[:, None, NODE : 2 * NODE] / applications * (made.answers > 0.0)
        nodes = read[:, None, :NODE] / hosts + made.graph.transpose(0, 2, 1) @ (answers @ weights["reply"].T)
        nodes = nodes * (made.hosts > 0.0)
        tasks = answers @ weights["self"].T + made.graph @ (nodes @ weights["message"].T)
        tasks = tasks * (made.tasks > 0.0)
        return found | {
            "self": _outer(made.tasks, answers),
            "reply": _outer(made.graph @ made.hosts, answers),
            "message": _outer(made.heard, nodes),
            "load": _outer(made.machines, nodes),
            "host": nodes.sum(0),
            "use": _outer(made.workload, tasks),
            "application": tasks.sum(0),
        }


def _outer(entered: Floats, signal: Floats) -> Floats:
    """The gradient by a matrix that is used for every node of every row."""
    product: Floats = np.tensordot(entered, signal, ((0, 1), (0, 1)))
    return product


SURROGATES: dict[str, Callable[[Sizes], Surrogate]] = {"perceptron": PerceptronSurrogate, "graph": GraphSurrogate}


def surrogate_of(kind: str, sizes: Sizes) -> Surrogate:
    """The surrogate of a kind."""
    if kind not in SURROGATES:
        raise unknown("surrogate", kind, SURROGATES)
    return SURROGATES[kind](sizes)
