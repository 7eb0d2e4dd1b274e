"""What a way to learn a policy must offer, so that one training loop serves all of them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError, did_you_mean, unknown
from trimtab.learn.extra import training_extra
from trimtab.policies.trained import Trained
from trimtab.scenario.model import Scenario

State = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Progress:
    """What one unit of training (an episode, a generation) brought."""

    reward: float
    """Mean reward of the unit, higher is better: the learning curve."""
    steps: int
    """Decisions taken in it."""
    figures: dict[str, float] = field(default_factory=dict)
    """Losses, exploration rate, latency and the like: go to the log."""


class Learner(Protocol):
    """A policy in training. The same scenario, seed and number of units give the same weights, to the last bit."""

    def step(self) -> Progress:
        """Train for one unit."""

    def state(self) -> tuple[State, dict[str, Any]]:
        """All that training depends on, as arrays and JSON: weights, optimiser, buffers, random streams."""

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""

    def trained(self) -> Trained:
        """The policy as it stands (the best so far, if the recipe keeps that), without training and evaluation."""


class Recipe(Protocol):
    """How one policy is learned."""

    unit: str
    """What the budget counts: ``episodes``, ``generations``."""
    budget: int
    """Units by default."""

    def start(self, scenario: Scenario, seed: int, budget: int) -> Learner:
        """A learner before its first unit; ``budget`` is for schedules such as that of exploration."""

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """Scenarios with their hashes and the workload seeds that training uses, for ``policy.json``."""


RECIPES: dict[tuple[str, str, str], str] = {
    ("place", "faasrank", "paper"): "trimtab.learn.faasrank.recipes:PAPER",
    ("place", "faasrank", "paper-multi"): "trimtab.learn.faasrank.recipes:PAPER_MULTI",
    ("place", "faasrank", "best"): "trimtab.learn.faasrank.recipes:BEST",
    ("place", "faasrank", "best-multi"): "trimtab.learn.faasrank.recipes:BEST_MULTI",
    ("place", "rank", "best"): "trimtab.learn.rank:BEST",
    ("route", "rank", "best"): "trimtab.learn.route_rank:BEST",
    ("scale", "q-table", "paper"): "trimtab.learn.scale.q_table:paper",
    ("scale", "q-table", "paper-vertical"): "trimtab.learn.scale.q_table:paper_vertical",
    ("scale", "q-table", "best"): "trimtab.learn.scale.q_table:best",
    ("scale", "dqn", "paper"): "trimtab.learn.scale.dqn:paper",
    ("scale", "dqn", "paper-vertical"): "trimtab.learn.scale.dqn:paper_vertical",
    ("scale", "dqn", "best"): "trimtab.learn.scale.dqn:best",
    ("scale", "residual", "best"): "trimtab.learn.scale.residual:best",
    ("assign", "lstm-aco", "paper"): "trimtab.learn.assign.lstm:PAPER",
    ("assign", "decision-nn", "paper"): "trimtab.learn.assign.decision:PAPER",
    ("assign", "semi-direct", "paper"): "trimtab.learn.assign.semi_direct:PAPER",
    ("assign", "graf", "paper"): "trimtab.learn.assign.graph:GRAF",
    ("assign", "gobi", "paper"): "trimtab.learn.assign.hosts:GOBI",
    ("assign", "gosh", "paper"): "trimtab.learn.assign.hosts:GOSH",
    ("select", "aset", "paper"): "trimtab.learn.aset:paper",
    ("select", "aset", "paper-failures"): "trimtab.learn.aset:failures",
    ("select", "aset", "best"): "trimtab.learn.aset_best:best",
    ("select", "metanet-plus", "best"): "trimtab.learn.select.plus:BEST",
    ("select", "metanet", "paper"): "trimtab.learn.select.metanet:PAPER",
    ("select", "metanet", "graph"): "trimtab.learn.select.metanet:GRAPH",
    ("select", "dqn", "paper"): "trimtab.learn.select.dqn:PAPER",
    ("select", "mab", "paper"): "trimtab.learn.select.mab:PAPER",
}
"""(decision, policy, recipe) → "module:attribute" of a recipe."""

TRAINING_SEEDS = 1_000_000
"""Workloads are drawn from this seed on in training; evaluations use seeds below."""


def named(decision: str, policy: str, recipe: str | None) -> str:
    """The name of the recipe that is meant; without one the policy's first."""
    policies = list(dict.fromkeys(name for each, name, _ in RECIPES if each == decision))
    if policy not in policies:
        others = sorted({each for each, name, _ in RECIPES if name == policy})
        if others:
            raise TrimtabError(f"policy = {policy!r} is a {others[0]} policy, the decision here is {decision}")
        if not policies:
            raise TrimtabError(f"policy = {policy!r} cannot be trained: there is no recipe for {decision} policies")
        raise unknown(f"{decision} policy that can be trained", policy, policies)
    names = [name for each, other, name in RECIPES if (each, other) == (decision, policy)]
    if recipe is not None and recipe not in names:
        raise TrimtabError(f"--recipe = {recipe!r}, {policy!r} has: {', '.join(names)}{did_you_mean(recipe, names)}")
    return names[0] if recipe is None else recipe


def find(decision: str, policy: str, recipe: str | None) -> Recipe:
    """The recipe of a policy; without a name its first."""
    module, _, attribute = RECIPES[decision, policy, named(decision, policy, recipe)].partition(":")
    with training_extra():
        found: Recipe = getattr(importlib.import_module(module), attribute)
    return found


def finite(arrays: State) -> bool:
    """Whether all numbers are."""
    return not infinite(arrays)


def infinite(arrays: State) -> list[str]:
    """Names of the arrays that hold a number that is not finite."""
    return [name for name, array in arrays.items() if array.dtype.kind in "fc" and not np.isfinite(array).all()]
