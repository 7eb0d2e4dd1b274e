"""``rollout``: plays each candidate on futures drawn from what is known by now; the best that sampling can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trimtab.policies.select.contract import Future, Situation, State, WindowOutcome


@dataclass
class Rollout:
    """As the clairvoyant, without foresight: work that is left and arrivals are drawn, the same for every candidate."""

    name: ClassVar[str] = "rollout"
    decision: ClassVar[str] = "select"
    samples: int = 16
    """Futures that are drawn for each choice."""

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins."""
        self._situation, self._best = situation, situation.fallback
        self._seed, self._choices = seed, 0

    def foresee(self, future: Future) -> None:
        """Try every candidate on the drawn futures; of equal ones the first."""
        self._choices += 1
        draw = hash((self._seed, self._choices)) & 0xFFFFFFFF
        reached = {name: future.imagined(name, self.samples, draw) for name in self._situation.candidates}
        self._best = max(reached, key=lambda name: reached[name])

    def choose(self, state: State, now: float) -> str:
        """What was best on the average."""
        return self._best

    def learn(self, outcome: WindowOutcome) -> None:
        """Nothing is kept."""
