"""The ways to train FaaSRank that ``trimtab train`` offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trimtab.learn.faasrank.best import BestLearner
from trimtab.learn.faasrank.paper import PaperLearner
from trimtab.learn.recipe import TRAINING_SEEDS, Learner
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario

MULTI = tuple(f"faasrank-m{number}" for number in range(1, 11))
"""Presets of Table III's workloads M1 to M10."""


def with_workloads(scenario: Scenario, presets: tuple[str, ...]) -> list[Scenario]:
    """The scenario's hosts, functions and platform under the presets' workloads; without presets its own."""
    if not presets:
        return [scenario]
    return [scenario.model_copy(update={"workload": load_scenario(name).workload}) for name in presets]


@dataclass(frozen=True)
class FaaSRankRecipe:
    """Algorithm 1, or our own way, on the scenario's workload or on those of some presets."""

    name: str
    unit: str
    budget: int
    presets: tuple[str, ...] = ()
    """Whose workloads are played on the scenario's hosts, functions and platform; none: the scenario's own."""

    def start(self, scenario: Scenario, seed: int, budget: int) -> Learner:
        """A learner before its first unit."""
        workloads = with_workloads(scenario, self.presets)
        if self.name.startswith("paper"):
            return PaperLearner(scenario, workloads, self.name, seed)
        return BestLearner(scenario, workloads, self.name, seed, budget)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """Which workloads, and the seeds that they are drawn from."""
        seeds = (
            f"{TRAINING_SEEDS} + seed, the same in every episode" if self.name.startswith("paper")
            else f"drawn from {TRAINING_SEEDS} on, another in every update"
        )  # fmt: skip
        return {"workloads": list(self.presets) or [scenario.name], "workload_seeds": seeds}


PAPER = FaaSRankRecipe("paper", "episodes", 1000)
PAPER_MULTI = FaaSRankRecipe("paper-multi", "episodes", 500, MULTI)
BEST = FaaSRankRecipe("best", "updates", 150)
BEST_MULTI = FaaSRankRecipe("best-multi", "updates", 800, MULTI)
