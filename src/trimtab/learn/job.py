"""What is to be trained."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from trimtab import __version__
from trimtab.control.run import decisions_of
from trimtab.errors import TrimtabError
from trimtab.learn.recipe import RECIPES, Recipe, find, named
from trimtab.scenario.digest import digest
from trimtab.scenario.model import Scenario

_DECISIONS = ("place", "route", "scale", "assign", "select")
_LIBRARIES = ("numpy", "numba", "torch", "stable-baselines3")


@dataclass(frozen=True)
class Job:
    """A policy, a recipe for it, and the scenario that it is trained on."""

    scenario: Scenario
    decision: str
    policy: str
    recipe: str
    maker: Recipe
    seed: int
    budget: int
    origin: dict[str, Any] | None = None
    """Of a training on the live platform: the training in simulation that it goes on from."""

    @property
    def unit(self) -> str:
        """What the budget counts."""
        return self.maker.unit

    @property
    def identity(self) -> dict[str, Any]:
        """All that must be the same for a training to go on from a checkpoint."""
        live = {} if self.origin is None else {"origin": self.origin}
        return live | {
            "decision": self.decision,
            "policy": self.policy,
            "recipe": self.recipe,
            "scenario": self.scenario.name,
            "hash": digest(self.scenario),
            "seed": self.seed,
            "budget": self.budget,
        }

    def training(self, steps: int, command: str) -> dict[str, Any]:
        """``training`` of ``policy.json``: the same for the same job on the same versions."""
        own = {
            "scenario": self.scenario.name,
            "hash": digest(self.scenario),
            "seed": self.seed,
            "unit": self.unit,
            "budget": self.budget,
            "steps": steps,
        }
        own |= {} if self.origin is None else {"live": True, "origin": self.origin}
        return own | self.maker.training(self.scenario) | {"versions": versions(), "command": command}


def job_for(scenario: Scenario, policy: str, recipe: str | None, seed: int, budget: int | None) -> Job:
    """Find the recipe; without a budget it is the recipe's own."""
    decision, name = split(scenario, policy)
    chosen = named(decision, name, recipe)
    maker = find(decision, name, chosen)
    return Job(scenario, decision, name, chosen, maker, seed, maker.budget if budget is None else budget)


def split(scenario: Scenario, policy: str) -> tuple[str, str]:
    """Decision and name: ``route/rank``, or ``rank`` for the decision that the scenario is about.

    A selector is found by its name alone where the scenario's own decision has no such policy.
    """
    decision, slash, name = policy.partition("/")
    if not (slash and decision in _DECISIONS):
        decision, name = scenario.decision, policy
        trained = {(each, other) for each, other, _ in RECIPES}
        if (decision, name) not in trained and ("select", name) in trained:
            decision = "select"
    needed = decisions_of(scenario)
    if decision not in (*needed, "select"):
        raise TrimtabError(f"policy = {policy!r}, this scenario has the decisions: {', '.join(needed)}")
    return decision, name


def versions() -> dict[str, str]:
    """What the weights depend on beside the job: Trimtab, Python, and the libraries that are installed."""
    found = {"trimtab": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
