"""How ``metanet-plus`` is learned: over assign or over scale policies, whichever the scenario is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trimtab.errors import TrimtabError
from trimtab.learn.assign import plus as plus_assign
from trimtab.learn.recipe import Learner
from trimtab.learn.select import plus_scale
from trimtab.scenario.model import Scenario

_RECIPES: dict[str, plus_assign.Plus | plus_scale.Plus] = {"assign": plus_assign.BEST, "scale": plus_scale.BEST}


@dataclass(frozen=True)
class Plus:
    """On the scenario that it is for."""

    unit: str = "runs"
    budget: int = plus_assign.BEST.budget

    def start(self, scenario: Scenario, seed: int, budget: int) -> Learner:
        """Before the first run."""
        return _recipe(scenario).start(scenario, seed, budget)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """Seeds of the runs and of the trials."""
        return _recipe(scenario).training(scenario)


def _recipe(scenario: Scenario) -> plus_assign.Plus | plus_scale.Plus:
    if scenario.decision not in _RECIPES:
        raise TrimtabError(
            f"policy = 'metanet-plus' selects among policies of: {', '.join(_RECIPES)}; "
            f"this scenario's decision is {scenario.decision!r}"
        )
    return _RECIPES[scenario.decision]


BEST = Plus()
