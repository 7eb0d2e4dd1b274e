"""``round-robin``: every policy for one window in turn."""

from __future__ import annotations

from typing import ClassVar

from trimtab.policies.select.contract import Situation, State, WindowOutcome


class RoundRobin:
    """In the order of the candidates."""

    name: ClassVar[str] = "round-robin"
    decision: ClassVar[str] = "select"

    def reset(self, situation: Situation, seed: int) -> None:
        """Begin with the first candidate."""
        self._candidates, self._next = situation.candidates, 0

    def choose(self, state: State, now: float) -> str:
        """The next one."""
        chosen = self._candidates[self._next % len(self._candidates)]
        self._next += 1
        return chosen

    def learn(self, outcome: WindowOutcome) -> None:
        """Nothing is learned."""
