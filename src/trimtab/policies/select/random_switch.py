"""``random``: another policy drawn for every window; what a selector must beat."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from trimtab.policies.select.contract import Situation, State, WindowOutcome


class RandomSwitch:
    """Uniform over the candidates."""

    name: ClassVar[str] = "random"
    decision: ClassVar[str] = "select"

    def reset(self, situation: Situation, seed: int) -> None:
        """Start the stream of draws anew."""
        self._candidates = situation.candidates
        self._stream = np.random.default_rng((seed, 11))

    def choose(self, state: State, now: float) -> str:
        """Any candidate."""
        return self._candidates[self._stream.integers(len(self._candidates))]

    def learn(self, outcome: WindowOutcome) -> None:
        """Nothing is learned."""
