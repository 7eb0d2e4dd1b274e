"""``clairvoyant``: plays each candidate on the true future of the window and a minute more; knows the future."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trimtab.policies.select.contract import Situation, State, WindowOutcome
from trimtab.sim.records import COMPLETED
from trimtab.sim.simulation import Simulation


@dataclass
class Clairvoyant:
    """Branches the run: a candidate for the window, then the fallback, and counts what succeeds."""

    name: ClassVar[str] = "clairvoyant"
    decision: ClassVar[str] = "select"
    oracle: ClassVar[bool] = True
    beyond: float = 60.0
    """Seconds after the window that count too: streams live longer than a window."""

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins."""
        self._situation, self._best = situation, situation.fallback

    def foresee(self, simulation: Simulation, policies: dict[str, Any]) -> None:
        """Try every candidate from here; of equal ones the first."""
        until = simulation.now + self._situation.window
        reached = {name: self._reached(simulation, policies, name, until) for name in self._situation.candidates}
        self._best = max(reached, key=lambda name: reached[name])

    def _reached(self, simulation: Simulation, policies: dict[str, Any], name: str, until: float) -> int:
        trial = simulation.branch()
        trial.switch(self._situation.decision, policies[name])
        trial.advance(until)
        trial.switch(self._situation.decision, policies[self._situation.fallback])
        trial.advance(until + self.beyond)
        return successes(trial, simulation.now, until + self.beyond)

    def choose(self, state: State, now: float) -> str:
        """What turned out best."""
        return self._best

    def learn(self, outcome: WindowOutcome) -> None:
        """It knows already."""


def successes(simulation: Simulation, begin: float, end: float) -> int:
    """Requests that arrived between two times and were answered in time and accurately enough by now."""
    first, last = np.searchsorted(simulation.workload.arrival, (begin, end))
    rows = simulation.core.results[first:last]
    answered = (rows["status"] == COMPLETED) & (rows["late"] == 0) & (rows["accurate"] == 1)
    return int(np.count_nonzero(answered))
