"""Recipes of ``q-table``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trimtab.learn.recipe import TRAINING_SEEDS, State
from trimtab.learn.scale.learner import Floats, QLearner, Settings
from trimtab.policies.scale.q_table import EDGES, cell, cells
from trimtab.scenario.model import Scenario

RATE = 0.2
"""Share of a new experience in the value."""


class TableLearner(QLearner):
    """Watkins' Q-learning: each experience moves one entry."""

    def prepare(self) -> None:
        """All values start as if the requirement held for ever: what was never tried is worth a try."""
        best = 1.0 / (1.0 - self.settings.discount) if self.settings.recipe == "paper" else 0.0
        self.table = np.full((cells(self.settings.features), len(self.settings.actions)), best)

    def values(self, inputs: Floats) -> Floats:
        """The row of the state."""
        return np.asarray(self.table[cell(self.settings.features, inputs)])

    def learn(self, before: Floats, action: int, reward: float, after: Floats, over: bool) -> None:
        """Q(s, a) moves towards r + discount x max Q(s', .)."""
        row = cell(self.settings.features, before)
        target = reward if over else reward + self.settings.discount * float(self.values(after).max())
        self.table[row, action] += RATE * (target - self.table[row, action])

    def weights(self) -> State:
        """The table."""
        return {"table": self.table.copy()}

    def described(self) -> dict[str, Any]:
        """Where the table divides its inputs."""
        return {"edges": {name: list(EDGES[name]) for name in self.settings.features}}

    def state(self) -> tuple[State, dict[str, Any]]:
        """The table, and what all learners have."""
        _, meta = super().state()
        return {"table": self.table.copy()}, meta

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on."""
        super().restore(arrays, meta)
        self.table = arrays["table"].copy()


@dataclass(frozen=True)
class TableRecipe:
    """How ``q-table`` is learned."""

    settings: Settings
    budget: int = 40
    unit: str = "episodes"

    def start(self, scenario: Scenario, seed: int, budget: int) -> TableLearner:
        """A learner before its first episode."""
        return TableLearner(scenario, self.settings, seed, budget)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training uses."""
        return {"scenarios": [scenario.name], "first_seed": TRAINING_SEEDS, "seeds": "one for each episode"}


paper = TableRecipe(Settings("q-table", "paper", "horizontal"))
paper_vertical = TableRecipe(replace(paper.settings, direction="vertical", overload=10.0))
best = TableRecipe(Settings("q-table", "best", "joint", tie=0.0, overload=10.0))
