"""A guard around every selector: bad answers, bad numbers, no proof, a load never seen, worse than a fixed policy.

On any of them the fallback, a fixed candidate, decides; the event is counted and the reason recorded.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np

from trimtab.policies.select.contract import Expectation, SelectPolicy, Situation, State, WindowOutcome

_JUDGED = 12
"""Windows over which a selector is judged, and for which the fallback decides at first: as long as streams live."""


@dataclass
class SelectGuard:
    """Wraps a selector; ``events`` counts why it stepped in."""

    selector: SelectPolicy
    situation: Situation
    events: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._expectation: Expectation | None = getattr(self.selector, "expectation", None)
        self._shortfalls: deque[float] = deque(maxlen=_JUDGED)
        self._suspended, self._penalty, self._demand = 0, _JUDGED, 0.0
        self._deciding = True

    def choose(self, state: State, now: float) -> str:
        """The selector's answer, or the fallback."""
        self._demand = state.demand
        # asked even while it is suspended: it keeps a memory of the states
        chosen = self._asked(state, now)
        self._deciding = chosen is not None and not self._stands_in(state)
        return chosen if self._deciding and chosen is not None else self.situation.fallback

    def _asked(self, state: State, now: float) -> str | None:
        """The selector's answer; None where it is of no use."""
        if not np.isfinite(state.features).all():
            self.events["not-a-number in the state"] += 1
            return None
        try:
            chosen = self.selector.choose(state, now)
        except (ArithmeticError, ValueError, LookupError) as error:
            self.events[f"{type(error).__name__} in the selector"] += 1
            return None
        if chosen not in self.situation.candidates:
            self.events["unknown policy"] += 1
            return None
        return chosen

    def _stands_in(self, state: State) -> bool:
        """Whether the fallback decides although the answer was in order."""
        if self._expectation is None:
            return False
        if not self._expectation.proven:
            self.events["not better than the fallback in training"] += 1
            return True
        if self._suspended > 0:
            self._suspended -= 1
            return True
        if state.demand > 0.0 and not self._expectation.covers(state.demand):
            self.events["load outside of what it was trained on"] += 1
            return True
        return False

    def learn(self, outcome: WindowOutcome) -> None:
        """Tell the selector, and hold what it reached against what the fallback is expected to reach."""
        self.selector.learn(outcome)
        if self._expectation is None or not self._deciding or not self._expectation.covers(self._demand):
            return
        self._shortfalls.append(self._expectation.success(self._demand) - outcome.success)
        if len(self._shortfalls) == _JUDGED and np.mean(self._shortfalls) > self._expectation.tolerance:
            self.events["worse than the fallback is expected to be"] += 1
            # twice as long each time: one that stays worse is hardly asked any more
            self._suspended, self._penalty = self._penalty, 2 * self._penalty
            self._shortfalls.clear()
