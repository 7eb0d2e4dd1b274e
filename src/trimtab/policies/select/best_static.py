"""``best-static``: the one candidate that, kept for the whole run, serves this very run best; knows the future."""

from __future__ import annotations

from typing import Any, ClassVar

from trimtab.policies.select.clairvoyant import successes
from trimtab.policies.select.contract import Situation, State, WindowOutcome
from trimtab.sim.simulation import Simulation


class BestStatic:
    """Plays the run with each candidate before it begins."""

    name: ClassVar[str] = "best-static"
    decision: ClassVar[str] = "select"
    oracle: ClassVar[bool] = True

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins."""
        self._decision, self._best = situation.decision, ""

    def foresee(self, simulation: Simulation, policies: dict[str, Any]) -> None:
        """Play the whole run with each candidate; of equal ones the first."""
        if self._best:
            return
        reached = {name: _kept(simulation, self._decision, policy) for name, policy in policies.items()}
        self._best = max(reached, key=lambda name: reached[name])

    def choose(self, state: State, now: float) -> str:
        """Always the same."""
        return self._best

    def learn(self, outcome: WindowOutcome) -> None:
        """It knows already."""


def _kept(simulation: Simulation, decision: str, policy: Any) -> int:
    trial = simulation.branch()
    trial.switch(decision, policy)
    trial.advance()
    return successes(trial, trial.workload.warm_up, trial.workload.duration)
