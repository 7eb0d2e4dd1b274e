"""``mab``: a contextual bandit (LinUCB) that learns while it runs, from the success or the cost of each window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.policies.parameters import check_parameters
from trimtab.policies.select.contract import Floats, Situation, State, WindowOutcome
from trimtab.policies.select.fitted import candidates_of, fallback_of
from trimtab.policies.trained import Trained

COUNT, COST, LARGEST = "count", "cost", "largest"
"""Arrays of a trained bandit: how often each candidate planned, what that cost in all, the largest cost."""


@dataclass
class Bandit:
    """LinUCB (Li et al. 2010): for each candidate a ridge regression on the context, plus its error.

    What is regressed is the share that did not succeed, so that a policy never tried looks perfect and is tried.
    Where tasks are assigned it is the cost φ over the largest one so far, and the context is 1 alone.
    """

    name: ClassVar[str] = "mab"
    decision: ClassVar[str] = "select"
    optimism: float = 0.1
    """Deviations of the estimate that are added to it: what exploring is worth."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.optimism < float("inf"):
            raise TrimtabError(f"policy 'mab': optimism = {self.optimism}, must be a number from 0 on")

    def reset(self, situation: Situation, seed: int) -> None:
        """Forget what was learned in a run."""
        self._candidates = situation.candidates
        self._arms: dict[str, tuple[Floats, Floats]] = {}
        self._largest = 0.0
        self._context: Floats | None = None

    def choose(self, state: State, now: float) -> str:
        """The highest upper confidence bound; of equal ones the first."""
        self._context = state.context
        return max(self._candidates, key=lambda name: self._bound(name, state.context))

    def learn(self, outcome: WindowOutcome) -> None:
        """One more row for the policy that decided; a window in which nothing ended says nothing."""
        context, self._context = self._context, None
        if context is None or (outcome.cost is None and outcome.ended == 0):
            return
        loss = 1.0 - outcome.success if outcome.cost is None else outcome.cost
        self._largest = max(self._largest, 1.0 if outcome.cost is None else loss)
        matrix, vector = self._arm(outcome.policy, len(context))
        self._arms[outcome.policy] = (matrix + np.outer(context, context), vector - loss * context)

    def _arm(self, name: str, size: int) -> tuple[Floats, Floats]:
        return self._arms.get(name, (np.eye(size), np.zeros(size)))

    def _bound(self, name: str, context: Floats) -> float:
        matrix, vector = self._arm(name, len(context))
        seen = np.linalg.solve(matrix, np.stack([vector / (self._largest or 1.0), context], axis=1))
        return float(seen[:, 0] @ context + self.optimism * np.sqrt(context @ seen[:, 1]))


@dataclass
class TrainedBandit(Bandit):
    """A bandit that begins with what it learned from a data set: UCB1 (Auer et al. 2002), without a context.

    What exploring is worth grows with the logarithm of all choices, so that nobody is given up for good.
    """

    candidates: tuple[str, ...] = ()
    fallback: str = ""
    arms: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Of each candidate, how often it planned and what that cost in all."""
    largest: float = 1.0

    def reset(self, situation: Situation, seed: int) -> None:
        """Back to what it learned from the data set."""
        super().reset(situation, seed)
        self._arms = {
            name: (np.array([[1.0 + count]]), np.array([-cost])) for name, (count, cost) in self.arms.items()
        }  # fmt: skip
        self._largest = self.largest

    def _bound(self, name: str, context: Floats) -> float:
        matrix, vector = self._arm(name, 1)
        taken = sum(self._arm(each, 1)[0][0, 0] for each in self._candidates)
        mean = vector[0] / matrix[0, 0] / (self._largest or 1.0)
        return float(mean + self.optimism * np.sqrt(2.0 * np.log(taken) / matrix[0, 0]))


def build(found: Trained, parameters: dict[str, Any]) -> TrainedBandit:
    """The policy of a trained folder."""
    check_parameters(Bandit.name, parameters, ("optimism",))
    candidates = candidates_of(found)
    found.expect(found.description.features, {COUNT: (len(candidates),), COST: (len(candidates),), LARGEST: (1,)})
    count, cost, largest = (found.arrays[name].astype(np.float64) for name in (COUNT, COST, LARGEST))
    if not (count >= 0.0).all() or not (cost >= 0.0).all() or largest[0] <= 0.0:
        raise TrimtabError(f"{found.where}: weights must be from 0 on, {LARGEST!r} above 0")
    arms = {name: (float(count[place]), float(cost[place])) for place, name in enumerate(candidates)}
    optimism = float(parameters.get("optimism", Bandit.optimism))
    return TrainedBandit(optimism, candidates, fallback_of(found), arms, float(largest[0]))
