"""``clairvoyant``: plays each candidate on the true future of the window and a minute more; knows the future."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trimtab.policies.select.contract import Future, Situation, State, WindowOutcome


@dataclass
class Clairvoyant:
    """Branches the run: a candidate for the window, then the fallback, and counts what comes of it."""

    name: ClassVar[str] = "clairvoyant"
    decision: ClassVar[str] = "select"
    oracle: ClassVar[bool] = True
    beyond: float = 60.0
    """Seconds after the window that count too: streams and tasks live longer than a window."""

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins."""
        self._situation, self._best = situation, situation.fallback

    def foresee(self, future: Future) -> None:
        """Try every candidate from here; of equal ones the first."""
        reached = {name: future.window(name, self.beyond) for name in self._situation.candidates}
        self._best = max(reached, key=lambda name: reached[name])

    def choose(self, state: State, now: float) -> str:
        """What turned out best."""
        return self._best

    def learn(self, outcome: WindowOutcome) -> None:
        """It knows already."""
