"""How ``mab`` is learned where tasks are assigned: its arms begin with what each policy cost in Λ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.learn.recipe import Progress, State
from trimtab.learn.select.dataset import collect
from trimtab.learn.select.learner import Settings, drawn_from
from trimtab.policies.select.mab import COST, COUNT, LARGEST
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario


class BanditLearner:
    """One pass over Λ is all there is to learn."""

    def __init__(self, scenario: Scenario, seed: int, settings: Settings) -> None:
        self.scenario, self.seed, self.settings = scenario, seed, settings
        self.arrays: State = {}
        self.names: dict[str, Any] = {}

    def step(self) -> Progress:
        """Count rows and costs of every policy."""
        data = collect(self.scenario, self.seed, self.settings.intervals)
        cost = data.outcomes[:, 0]
        arms = len(data.candidates)
        self.arrays = {
            COUNT: np.bincount(data.policy, minlength=arms).astype(np.float64),
            COST: np.bincount(data.policy, cost, arms),
            LARGEST: np.array([cost.max()]),
        }
        self.names = {"candidates": list(data.candidates), "fallback": data.cheapest}
        return Progress(-float(cost.mean()), len(cost))

    def state(self) -> tuple[State, dict[str, Any]]:
        """The arms."""
        return {name: array.copy() for name, array in self.arrays.items()}, {"names": self.names}

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on."""
        self.arrays, self.names = dict(arrays), dict(meta["names"])

    def trained(self) -> Trained:
        """The bandit as it begins a run; its context is 1 alone."""
        about = Description(
            decision="select", policy="mab", recipe=self.settings.name, features=("constant",), settings=self.names
        )
        return Trained(about, dict(self.arrays))


@dataclass(frozen=True)
class BanditRecipe:
    """Nothing but Λ."""

    settings: Settings
    unit: str = "passes"
    budget: int = 1

    def start(self, scenario: Scenario, seed: int, budget: int) -> BanditLearner:
        """A learner before its pass."""
        return BanditLearner(scenario, seed, self.settings)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training draws from."""
        return drawn_from(self.settings)


PAPER = BanditRecipe(Settings())
