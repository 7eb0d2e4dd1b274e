"""What the learners of ``metanet`` and ``dqn`` have in common: Λ, epochs over its rows, and checkpoints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.learn.recipe import TRAINING_SEEDS, Progress, State
from trimtab.learn.select.dataset import INTERVALS, Dataset, collect
from trimtab.learn.select.descent import Adam
from trimtab.learn.state import below, generator_state, restored_generator
from trimtab.policies.select.perceptron import Weights
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario


@dataclass(frozen=True)
class Settings:
    """Numbers of a recipe; the paper gives none but Γ and the layers."""

    name: str = "paper"
    intervals: int = INTERVALS
    batch: int = 32
    rate: float = 1e-3
    decay: float = 1e-3


class LambdaLearner(ABC):
    """One epoch after the other over the rows of Λ."""

    def __init__(self, scenario: Scenario, seed: int, budget: int, settings: Settings) -> None:
        self.scenario, self.seed, self.budget, self.settings = scenario, seed, budget, settings
        self.random = np.random.default_rng((seed, 61))
        self.adam = Adam(settings.rate, settings.decay)
        self.weights: Weights = {}
        self.done = 0

    @cached_property
    def data(self) -> Dataset:
        """Collected when first needed, the same from the same seed: a training that goes on collects it again."""
        return collect(self.scenario, self.seed, self.settings.intervals)

    @property
    def batches(self) -> int:
        """Steps of an epoch."""
        return -(-len(self.data.policy) // self.settings.batch)

    def step(self) -> Progress:
        """One epoch, the rate falling from epoch to epoch."""
        self.adam.rate = 0.5 * self.settings.rate * (1.0 + np.cos(np.pi * self.done / self.budget))
        order, losses = self.random.permutation(len(self.data.policy)), []
        for begin in range(0, len(order), self.settings.batch):
            losses.append(self.descend(order[begin : begin + self.settings.batch]))
        self.done += 1
        figures = {"loss": float(np.mean(losses))} | self.figures()
        return Progress(-figures["loss"], len(order), figures)

    @abstractmethod
    def descend(self, rows: npt.NDArray[np.int64]) -> float:
        """One step with these rows; returns the loss before it."""

    def figures(self) -> dict[str, float]:
        """Further figures of an epoch."""
        return {}

    def state(self) -> tuple[State, dict[str, Any]]:
        """Weights, optimiser and place in the random stream."""
        arrays = {f"weights.{name}": array.copy() for name, array in self.weights.items()}
        moments = {f"adam.{name}": array for name, array in self.adam.arrays().items()}
        return arrays | moments, {"done": self.done, "random": generator_state(self.random)}

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on."""
        self.weights = {name: array.copy() for name, array in below("weights", arrays).items()}
        self.adam.restore(below("adam", arrays))
        self.random, self.done = restored_generator(meta["random"]), int(meta["done"])

    def exported(self, policy: str, settings: dict[str, Any], arrays: State) -> Trained:
        """The weights as a trained policy, in single precision: they are read over a network."""
        chosen = {"candidates": list(self.data.candidates), "fallback": self.data.cheapest}
        about = Description(
            decision="select",
            policy=policy,
            recipe=self.settings.name,
            features=self.data.features,
            settings=chosen | settings,
        )
        return Trained(about, {name: array.astype(np.float32) for name, array in (self.weights | arrays).items()})


def drawn_from(settings: Settings) -> dict[str, Any]:
    """``training`` of ``policy.json``: what Λ is drawn from."""
    return {"intervals_of_each_policy": settings.intervals, "first_workload_seed": TRAINING_SEEDS}
