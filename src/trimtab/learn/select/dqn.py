"""How ``dqn`` is learned: Q-iteration on the transitions of Λ, before it goes on learning in a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.learn.recipe import State
from trimtab.learn.select.learner import LambdaLearner, Settings, drawn_from
from trimtab.learn.state import below
from trimtab.policies.select import perceptron
from trimtab.policies.select.dqn import LARGEST, NETWORK, Numbers, goals, gradients, reward_of, sizes
from trimtab.policies.select.perceptron import Weights
from trimtab.policies.trained import Trained
from trimtab.scenario.model import Scenario

_TARGET_EVERY = 2
"""Epochs between two copies to the network that values the future."""


class DeepQLearner(LambdaLearner):
    """The values of candidates in training; a unit is an epoch."""

    def __init__(self, scenario: Scenario, seed: int, budget: int, settings: Settings, numbers: Numbers) -> None:
        super().__init__(scenario, seed, budget, settings)
        self.numbers = numbers
        self.target: Weights = {}

    def descend(self, rows: npt.NDArray[np.int64]) -> float:
        """One step to the rewards and what the target network hopes for."""
        data = self.data
        if not self.weights:
            layers = sizes(len(data.features), len(data.candidates))
            self.weights = perceptron.drawn(NETWORK, layers, np.random.default_rng((self.seed, 63)))
        if not self.target or (self.done % _TARGET_EVERY == 0 and self.adam.steps % self.batches == 0):
            self.target = {name: array.copy() for name, array in self.weights.items()}
        rewards = reward_of(data.outcomes[rows, 0], self.largest)
        wanted = goals(self.target, rewards, data.following[rows], self.numbers.discount)
        value, slopes = gradients(self.weights, data.states[rows], data.policy[rows], wanted)
        self.adam.step(self.weights, slopes)
        return value

    @property
    def largest(self) -> float:
        """The largest φ of Λ."""
        return float(self.data.outcomes[:, 0].max())

    def state(self) -> tuple[State, dict[str, Any]]:
        """The target network too."""
        arrays, meta = super().state()
        return arrays | {f"target.{name}": array.copy() for name, array in self.target.items()}, meta

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on."""
        super().restore(arrays, meta)
        self.target = {name: array.copy() for name, array in below("target", arrays).items()}

    def trained(self) -> Trained:
        """The network as it stands."""
        return self.exported("dqn", asdict(self.numbers), {LARGEST: np.array([self.largest])})


@dataclass(frozen=True)
class DeepQRecipe:
    """Numbers of the learner and of the policy."""

    settings: Settings
    numbers: Numbers
    unit: str = "epochs"
    budget: int = 100

    def start(self, scenario: Scenario, seed: int, budget: int) -> DeepQLearner:
        """A learner before its first epoch."""
        return DeepQLearner(scenario, seed, budget, self.settings, self.numbers)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training draws from."""
        return drawn_from(self.settings)


PAPER = DeepQRecipe(Settings(), Numbers())
