"""A network's opinion of what a plan costs, host by host, and how it changes with the plan.

The network sees a host's machine and load and predicts seconds until drained, kWh, and tasks that end late. What it
says of the empty host is taken off, so that a host without tasks costs nothing. With a fourth output, the standard
deviation of the cost, the objective is mean + ``caution`` x deviation of the whole plan's cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.policies.assign.contract import Floats, Ints
from trimtab.policies.assign.dense import Dense, Pass, names_of, network_of
from trimtab.policies.assign.features import FEATURES, LOAD, MACHINE, View
from trimtab.policies.assign.objective import ENERGY_PRICE, VIOLATION_PRICE
from trimtab.policies.trained import Trained

HEADS = ("seconds", "kwh", "violations")
DEVIATION = "deviation"
_PRICE = MACHINE.index("price")
_COLUMNS = slice(len(MACHINE), None)


@dataclass(frozen=True)
class HostModel:
    """The trained network with its scales."""

    network: Dense
    mean: Floats
    scale: Floats
    """Of each input: (input - mean) / scale enters the network."""
    unit: Floats
    """Of each output: the network's value times this."""

    @classmethod
    def of(cls, trained: Trained, outputs: tuple[str, ...]) -> HostModel:
        """The model of a trained folder."""
        sizes = sizes_of(trained.description.settings, len(FEATURES), len(outputs))
        shapes: dict[str, tuple[int, ...]] = {"mean": (len(FEATURES),), "scale": (len(FEATURES),)}
        shapes |= {"unit": (len(outputs),)} | names_of("host", sizes)
        trained.expect(FEATURES, shapes)
        scales = (trained.arrays[name].astype(np.float64) for name in ("mean", "scale", "unit"))
        return cls(network_of("host", sizes, trained.arrays), *scales)

    def made(self, machine: Floats, loads: Floats) -> Pass:
        """A forward pass, in the network's own units."""
        return self.network.forward((np.concatenate([machine, loads], axis=1) - self.mean) / self.scale)

    def slopes(self, made: Pass, weights: Floats) -> Floats:
        """Gradient of ``weights`` · outputs by the loads."""
        return (self.network.backward(made, weights) / self.scale)[:, _COLUMNS]

    def curved(self, made: Pass, weights: Floats) -> Floats:
        """Hessians of ``weights`` · outputs by the loads, rows x columns x columns, one product for each column."""
        found = []
        for column in range(len(MACHINE), len(FEATURES)):
            direction = np.zeros((len(weights), len(FEATURES)))
            direction[:, column] = 1.0 / self.scale[column]
            found.append((self.network.hessian_product(made, weights, direction) / self.scale)[:, _COLUMNS])
        return np.stack(found, axis=1)


def sizes_of(settings: dict[str, Any], inputs: int, outputs: int) -> tuple[int, ...]:
    """Layer sizes; ``hidden`` is what ``policy.json`` says."""
    hidden = settings["hidden"]
    if not isinstance(hidden, list | tuple) or not all(isinstance(each, int) and 0 < each <= 512 for each in hidden):
        raise ValueError(f"hidden = {hidden!r}, must be a list of whole numbers from 1 to 512")
    return (inputs, *hidden, outputs)


class HostSurrogate:
    """The model of one decision: holds a plan, and knows the objective, its gradient and curvature there.

    All is kept host by host; a move makes the two hosts that it touches be looked at anew, no others.
    """

    def __init__(self, model: HostModel, view: View, caution: float = 0.0, strictness: float = 1.0) -> None:
        self.model, self.view, self.caution = model, view, caution
        self.plan = view.start.copy()
        self.loads = view.loads(self.plan)
        self._empty = model.made(view.machine, np.zeros_like(self.loads)).outputs
        self._prices = np.zeros_like(self._empty)
        prices = view.machine[:, _PRICE] / 3600.0, ENERGY_PRICE, strictness * VIOLATION_PRICE
        for column, price in enumerate(prices):
            self._prices[:, column] = price * model.unit[column]
        count = len(view.hosts)
        self.means, self.variances = np.zeros(count), np.zeros(count)
        self._slopes = np.zeros((2, count, len(LOAD)))
        self._look(np.arange(count, dtype=np.int32))

    @property
    def value(self) -> float:
        """The objective of the plan."""
        return float(self.means.sum()) + self.caution * math.sqrt(max(float(self.variances.sum()), 0.0))

    @property
    def _per_variance(self) -> float:
        """USD for a little more variance; by this the sum of hosts stands in for the root of the sum, never too low."""
        return 0.5 * self.caution / math.sqrt(max(float(self.variances.sum()), 1e-12))

    def _judged(self, hosts: Ints, loads: Floats) -> tuple[Pass, Floats, Floats, Floats]:
        """A forward pass, and mean, standard deviation and variance of the hosts' costs."""
        made = self.model.made(self.view.machine[hosts], loads)
        change = made.outputs - self._empty[hosts]
        means = (change * self._prices[hosts]).sum(axis=1)
        deviation = change[:, -1] * self.model.unit[-1] if self.caution else np.zeros(len(hosts))
        return made, means, deviation, deviation**2

    def _look(self, hosts: Ints) -> None:
        loads = self.loads[hosts]
        made, self.means[hosts], deviation, self.variances[hosts] = self._judged(hosts, loads)
        self._slopes[0, hosts] = self.model.slopes(made, self._prices[hosts])
        if self.caution:
            self._slopes[1, hosts] = 2.0 * deviation[:, None] * self.model.slopes(made, self._spread(hosts))

    def _spread(self, hosts: Ints) -> Floats:
        """Weights of the outputs that pick the standard deviation."""
        weights = np.zeros((len(hosts), len(self.model.unit)))
        weights[:, -1] = self.model.unit[-1]
        return weights

    def gradient(self, tasks: Ints) -> Floats:
        """Of the objective by the rows of the relaxed assignment matrix that belong to ``tasks``."""
        slopes = self._slopes[0] + self._per_variance * self._slopes[1]
        found: Floats = np.einsum("thk,hk->th", self.view.edges[tasks], slopes)
        return found

    def curvature(self, tasks: Ints, hosts: Ints) -> Floats:
        """Second derivatives of the objective by these entries of the matrix, each by itself: exact, as hosts have
        few columns of load. What the hosts' variances do to each other is left out, being far smaller."""
        loads = self.loads[hosts]
        made, _, deviation, _ = self._judged(hosts, loads)
        curved = self.model.curved(made, self._prices[hosts])
        if self.caution:
            spread = self._spread(hosts)
            slope = self.model.slopes(made, spread)
            bent = deviation[:, None, None] * self.model.curved(made, spread)
            curved += 2.0 * self._per_variance * (slope[:, :, None] * slope[:, None, :] + bent)
        edges = self.view.edges[tasks][:, hosts].transpose(1, 0, 2)
        found: Floats = np.einsum("htk,htk->th", edges @ curved, edges)
        return found

    def gains(self, tasks: Ints, targets: Ints) -> Floats:
        """What the objective falls by, for each of these moves by itself; a task without a host only adds its cost."""
        added = self.loads[targets] + self.view.edges[tasks, targets]
        gain = self._worth(targets) - self._cost(targets, added)
        leaving = np.flatnonzero(self.plan[tasks] >= 0)
        if len(leaving) > 0:
            sources = self.plan[tasks[leaving]]
            less = self.loads[sources] - self.view.edges[tasks[leaving], sources]
            gain[leaving] += self._worth(sources) - self._cost(sources, less)
        return gain

    def _worth(self, hosts: Ints) -> Floats:
        return self.means[hosts] + self._per_variance * self.variances[hosts]

    def _cost(self, hosts: Ints, loads: Floats) -> Floats:
        # rounding leaves a trace of load on a host that its last task left
        empty = loads[:, 0] < 0.5
        _, means, _, variances = self._judged(hosts, np.where(empty[:, None], 0.0, loads))
        return means + self._per_variance * variances

    def move(self, tasks: Ints, targets: Ints) -> None:
        """Put tasks elsewhere."""
        touched = np.unique(np.concatenate([targets, self.plan[tasks]]))
        self.plan[tasks] = targets
        touched = touched[touched >= 0]
        self.loads = self.view.loads(self.plan)
        self._look(touched.astype(np.int32))
