"""``best-static``: the one candidate that, kept for the whole run, serves this very run best; knows the future."""

from __future__ import annotations

from typing import ClassVar

from trimtab.policies.select.contract import Future, Situation, State, WindowOutcome


class BestStatic:
    """Plays the run with each candidate before it begins."""

    name: ClassVar[str] = "best-static"
    decision: ClassVar[str] = "select"
    oracle: ClassVar[bool] = True

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins."""
        self._candidates, self._best = situation.candidates, ""

    def foresee(self, future: Future) -> None:
        """Play the whole run with each candidate; of equal ones the first."""
        if self._best:
            return
        reached = {name: future.whole(name) for name in self._candidates}
        self._best = max(reached, key=lambda name: reached[name])

    def choose(self, state: State, now: float) -> str:
        """Always the same."""
        return self._best

    def learn(self, outcome: WindowOutcome) -> None:
        """It knows already."""
