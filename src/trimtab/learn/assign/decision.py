"""How ``decision-nn`` is learned: prediction and decision in tandem.

After each epoch of prediction the network decides in states that were met: it is given several plans whose true costs
are known, its decision is relaxed to a softmax over minus the costs that it predicts, and the loss is the regret of
that decision: what it costs on average more than the best plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from trimtab.learn.assign.hosts import Data, HostLearner, HostRecipe, family
from trimtab.learn.assign.traces import collect
from trimtab.learn.recipe import Progress
from trimtab.policies.assign.features import MACHINE
from trimtab.policies.assign.objective import ENERGY_PRICE, VIOLATION_PRICE, priced
from trimtab.policies.assign.surrogate import HEADS
from trimtab.scenario.model import Scenario

_PRICE = MACHINE.index("price")


@dataclass(frozen=True)
class DecisionRecipe(HostRecipe):
    """Prediction on the traces of ``HostRecipe``, and decisions between the plans of others."""

    policy: str = "decision-nn"
    decided: int = 400
    """States in which it decides."""
    options: int = 8
    """Plans in each."""
    together: int = 16
    """States of one step."""
    softness: float = 2e-3
    """USD: plans that differ by less are chosen about equally often while it learns."""

    def start(self, scenario: Scenario, seed: int, budget: int) -> DecisionLearner:
        """A learner before its first epoch."""
        return DecisionLearner(self, scenario, seed, budget)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training draws from."""
        return super().training(scenario) | {"decided_states": self.decided, "plans_to_decide_between": self.options}


@dataclass(frozen=True)
class Choices:
    """Rows of hosts of plans between which is decided; the rows of a state follow one another."""

    inputs: Tensor
    empty: Tensor
    prices: Tensor
    plan: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    """Index of each state's first row, and the number of rows."""
    cost: Tensor
    """True cost of each plan, in USD."""

    @classmethod
    def collected(cls, scenario: Scenario, recipe: DecisionRecipe, seed: int, data: Data) -> Choices:
        """Other runs than those of prediction, in the scales of these."""
        traces = collect(family(scenario), recipe.decided, seed + 1, plans=recipe.options)
        load, machine = traces.load, traces.machine
        rows = len(machine)
        prices = [machine[:, _PRICE] / 3600.0, np.full(rows, ENERGY_PRICE), np.full(rows, VIOLATION_PRICE)]
        cost = np.bincount(traces.plan, priced(traces.usd, traces.kwh, traces.violations))
        scaled = [
            torch.from_numpy((np.concatenate([machine, each], axis=1) - data.mean) / data.scale)
            for each in (load, np.zeros_like(load))
        ]
        first = np.searchsorted(traces.state, np.arange(int(traces.state[-1]) + 2))
        weights = torch.from_numpy(np.column_stack(prices) * data.unit[: len(HEADS)])
        return cls(scaled[0], scaled[1], weights, traces.plan, first, torch.from_numpy(cost))


class DecisionLearner(HostLearner):
    """Epochs of prediction and of decision in turn."""

    recipe: DecisionRecipe

    @cached_property
    def choices(self) -> Choices:
        """Collected when first needed, the same from the same seed."""
        return Choices.collected(self.scenario, self.recipe, self.seed, self.data)

    def step(self) -> Progress:
        """One epoch of each."""
        progress = super().step()
        order = self.random.permutation(len(self.choices.first) - 1)
        regrets = []
        for begin in range(0, len(order) - self.recipe.together + 1, self.recipe.together):
            regret = torch.stack([self._regret(state) for state in order[begin : begin + self.recipe.together]]).mean()
            self.optimiser.zero_grad()
            (regret / self.recipe.softness).backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            regrets.append(float(regret.detach()))
        return Progress(progress.reward, progress.steps, progress.figures | {"regret_usd": float(np.mean(regrets))})

    def _regret(self, state: int) -> Tensor:
        """USD that the relaxed decision costs more than the best plan of the state."""
        made = self.choices
        rows = slice(int(made.first[state]), int(made.first[state + 1]))
        outputs = (self.network(made.inputs[rows]) - self.network(made.empty[rows]))[:, : len(HEADS)]
        plans = made.plan[rows]
        places = torch.from_numpy((plans - plans[0]).astype(np.int64))
        predicted = torch.zeros(int(places[-1]) + 1, dtype=torch.float64)
        predicted = predicted.index_add(0, places, (outputs * made.prices[rows]).sum(1))
        true = made.cost[int(plans[0]) : int(plans[-1]) + 1]
        share = torch.softmax(-predicted / self.recipe.softness, 0)
        regret: Tensor = (share * true).sum() - true.min()
        return regret


PAPER = DecisionRecipe(budget=20)
