"""How ``metanet`` is learned: the paper's loss on Λ, with the gradient that also tunes it while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.learn.select.learner import LambdaLearner, Settings, drawn_from
from trimtab.policies.assign.dense import sigmoid
from trimtab.policies.select.metanet import MOST, RATE, loss, sizes_of, units_of
from trimtab.policies.select.surrogates import Surrogate, surrogate_of
from trimtab.policies.trained import Trained
from trimtab.scenario.model import Scenario


class MetanetLearner(LambdaLearner):
    """A surrogate in training; a unit is an epoch."""

    def __init__(self, scenario: Scenario, seed: int, budget: int, settings: Settings, kind: str) -> None:
        super().__init__(scenario, seed, budget, settings)
        self.kind = kind

    @cached_property
    def surrogate(self) -> Surrogate:
        """The network for this scenario's hosts and applications."""
        return surrogate_of(self.kind, sizes_of(self.data.features, self.data.candidates))

    def descend(self, rows: npt.NDArray[np.int64]) -> float:
        """One step on the paper's loss."""
        data = self.data
        if not self.weights:
            self.weights = self.surrogate.drawn(np.random.default_rng((self.seed, 62)))
        policy, units = data.policy[rows], units_of(data.most)
        made = self.surrogate.forward(self.weights, data.states[rows], policy)
        value, signal = loss(made.outputs, data.outcomes[rows] / units, data.most[policy] / units)
        self.adam.step(self.weights, self.surrogate.backward(self.weights, made, signal))
        return value

    def figures(self) -> dict[str, float]:
        """How much of the spread of φ within Λ is explained: 1 is all."""
        data = self.data
        made = self.surrogate.forward(self.weights, data.states, data.policy)
        error = (data.most[data.policy] * sigmoid(made.outputs) - data.outcomes)[:, 0]
        return {"explained": 1.0 - float((error**2).mean() / max(data.outcomes[:, 0].var(), 1e-30))}

    def trained(self) -> Trained:
        """The surrogate as it stands."""
        return self.exported("metanet", {"surrogate": self.kind, "rate": RATE}, {MOST: self.data.most})


@dataclass(frozen=True)
class MetanetRecipe:
    """A surrogate of one kind."""

    kind: str
    settings: Settings
    unit: str = "epochs"
    budget: int = 100

    def start(self, scenario: Scenario, seed: int, budget: int) -> MetanetLearner:
        """A learner before its first epoch."""
        return MetanetLearner(scenario, seed, budget, self.settings, self.kind)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training draws from."""
        return drawn_from(self.settings)


PAPER = MetanetRecipe("perceptron", Settings())
GRAPH = MetanetRecipe("graph", Settings("graph"))
