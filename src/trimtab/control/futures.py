"""What would come of each candidate of a selector: branches of a run, played on. For oracles, and for rollouts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.control.lookahead import HORIZON, outlook
from trimtab.control.scale_lookahead import scale_outlook
from trimtab.control.scale_watch import ScaleWatch
from trimtab.control.twin import imagine
from trimtab.errors import TrimtabError
from trimtab.policies.select.contract import Situation
from trimtab.sim.records import COMPLETED
from trimtab.sim.simulation import Simulation


@dataclass(frozen=True)
class RouteFuture:
    """Queries that succeed."""

    simulation: Simulation
    policies: dict[str, Any]
    situation: Situation

    def window(self, name: str, beyond: float) -> float:
        """A candidate for the window, then the fallback for so many seconds that count too: streams live longer."""
        decision, end = self.situation.decision, self.simulation.now + self.situation.window
        trial = self.simulation.branch()
        trial.switch(decision, self.policies[name])
        trial.advance(end)
        trial.switch(decision, self.policies[self.situation.fallback])
        trial.advance(end + beyond)
        return float(successes(trial, self.simulation.now, end + beyond))

    def whole(self, name: str) -> float:
        """A candidate for the rest of the run."""
        trial = self.simulation.branch()
        trial.switch(self.situation.decision, self.policies[name])
        trial.advance()
        return float(successes(trial, trial.workload.warm_up, trial.workload.duration))

    def imagined(self, name: str, samples: int, seed: int) -> float:
        """Not for streams: how they go on cannot be drawn from what was seen of them."""
        raise TrimtabError("policy = 'rollout' selects among assign policies, this scenario's decision is route")


@dataclass(frozen=True)
class AssignFuture:
    """USD until all that has arrived is done, the less the better."""

    simulation: Simulation
    policies: dict[str, Any]
    situation: Situation

    def window(self, name: str, beyond: float) -> float:
        """A candidate for the interval, then the fallback for so many seconds, on what will really happen."""
        intervals = 1 + round(beyond / self.situation.window)
        return -outlook(self.simulation, self._first(name), intervals)

    def whole(self, name: str) -> float:
        """A candidate for the rest of the run."""
        left = math.ceil((self.simulation.workload.duration - self.simulation.now) / self.situation.window)
        return -outlook(self.simulation, [self.policies[name]], max(left, 1))

    def imagined(self, name: str, samples: int, seed: int) -> float:
        """The same as ``window`` on futures that are drawn from what is known; all candidates on the same ones."""
        random = np.random.default_rng(seed)
        seconds = HORIZON * self.situation.window
        twins = (imagine(self.simulation, seconds, random) for _ in range(samples))
        return -float(np.mean([outlook(twin, self._first(name), HORIZON) for twin in twins]))

    def _first(self, name: str) -> list[Any]:
        return [self.policies[name], self.policies[self.situation.fallback]]


@dataclass(frozen=True)
class ScaleFuture:
    """USD of instances and violations, the less the better."""

    watch: ScaleWatch
    situation: Situation

    def window(self, name: str, beyond: float) -> float:
        """A candidate for the window, then the fallback for so many seconds, on what will really happen."""
        return -scale_outlook(self.watch, name, self.situation.fallback, self.situation.window, beyond)

    def whole(self, name: str) -> float:
        """A candidate for the rest of the run."""
        left = self.watch.simulation.workload.duration - self.watch.simulation.now
        return -scale_outlook(self.watch, name, name, max(left, 0.0), 0.0)

    def imagined(self, name: str, samples: int, seed: int) -> float:
        """Not for scaling: the rate to come is what scale policies differ about, and it cannot be drawn."""
        raise TrimtabError("policy = 'rollout' selects among assign policies, this scenario's decision is scale")


def successes(simulation: Simulation, begin: float, end: float) -> int:
    """Requests that arrived between two times and were answered in time and accurately enough by now."""
    first, last = np.searchsorted(simulation.workload.arrival, (begin, end))
    rows = simulation.core.results[first:last]
    answered = (rows["status"] == COMPLETED) & (rows["late"] == 0) & (rows["accurate"] == 1)
    return int(np.count_nonzero(answered))
