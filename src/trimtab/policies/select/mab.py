"""``mab``: a contextual bandit (LinUCB) that learns while it runs, from the success rate of each window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.policies.select.contract import Floats, Situation, State, WindowOutcome


@dataclass
class Bandit:
    """LinUCB (Li et al. 2010): for each candidate a ridge regression on the context, plus its error.

    What is regressed is the share that did not succeed, so that a policy never tried looks perfect and is tried.
    """

    name: ClassVar[str] = "mab"
    decision: ClassVar[str] = "select"
    optimism: float = 0.1
    """Deviations of the estimate that are added to it: what exploring is worth."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.optimism < float("inf"):
            raise TrimtabError(f"policy 'mab': optimism = {self.optimism}, must be a number from 0 on")

    def reset(self, situation: Situation, seed: int) -> None:
        """Forget what was learned."""
        self._candidates = situation.candidates
        self._arms: dict[str, tuple[Floats, Floats]] = {}
        self._context: Floats | None = None

    def choose(self, state: State, now: float) -> str:
        """The highest upper confidence bound; of equal ones the first."""
        self._context = state.context
        return max(self._candidates, key=lambda name: self._bound(name, state.context))

    def learn(self, outcome: WindowOutcome) -> None:
        """One more row for the policy that decided; a window in which nothing ended says nothing."""
        if self._context is None or outcome.ended == 0:
            return
        matrix, vector = self._arm(outcome.policy, len(self._context))
        self._arms[outcome.policy] = (
            matrix + np.outer(self._context, self._context),
            vector + (outcome.success - 1.0) * self._context,
        )

    def _arm(self, name: str, size: int) -> tuple[Floats, Floats]:
        return self._arms.get(name, (np.eye(size), np.zeros(size)))

    def _bound(self, name: str, context: Floats) -> float:
        matrix, vector = self._arm(name, len(context))
        seen = np.linalg.solve(matrix, np.stack([vector, context], axis=1))
        return float(seen[:, 0] @ context + self.optimism * np.sqrt(context @ seen[:, 1]))
