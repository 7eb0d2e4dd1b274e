"""What a select policy sees and answers: which of several policies decides in the next window.

At the start of every window the control loop calls ``choose(state, now)``, and at its end ``learn(outcome)``.
A selector sees what a scheduler can: averages over the window, and how many requests succeeded in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from trimtab.policies.assign.contract import HostTable, Ints, TaskTable

Floats = npt.NDArray[np.float64]

CANDIDATES: dict[str, tuple[str, ...]] = {
    "route": (
        "closest",
        "load-balancing",
        "farthest",
        "cheaper",
        "random-proportional-latency",
        "random-proportional-load",
        "least-impedance",
    ),
    "assign": (
        "arima-aco",
        "lstm-aco",
        "decision-nn",
        "semi-direct",
        "graf",
        "gobi",
        "gosh",
    ),
    "scale": (
        "square-root",
        "holt",
        "hpa",
        "hpa-inflight",
        "kpa",
        "threshold-cpu",
    ),
}
"""Decision → the policies that a selector chooses from, unless told: ASET's for routing, MetaNet's for assigning, the
rules that need no training for scaling."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What does not change during a run."""

    decision: str
    """Whose policies are selected."""
    candidates: tuple[str, ...]
    fallback: str
    """The candidate that answers where the selector cannot."""
    features: tuple[str, ...]
    """Names for ``State.features``."""
    window: float
    """Seconds between two choices."""


@dataclass(frozen=True, slots=True)
class State:
    """What was seen in the window that ends now; all zero at the very start."""

    policy: str
    """The one that decided in it."""
    features: Floats
    """Averages over the window, in the order of ``Situation.features``."""
    context: Floats
    """A few numbers without unit: 1, demand over capacity, bound load over capacity, success rate."""
    demand: float
    """Requests a second that were asked for."""


@dataclass(frozen=True, slots=True)
class AssignState(State):
    """What is there to be planned, beside the figures of the interval that ends now."""

    tasks: TaskTable
    hosts: HostTable
    current: Ints
    plans: dict[str, Ints]
    """What each candidate would do, for a selector that compares plans; else empty."""


@dataclass(frozen=True, slots=True)
class ScaleState(State):
    """What each scale policy asks for now, beside the figures of the window that ends now; a number a function."""

    asked: dict[str, Ints]
    """Instances that each candidate wants; those that there are, where it wants none changed."""
    current: Ints
    """Instances that are up or on their way."""
    cores: Floats
    """Of one instance."""


@dataclass(frozen=True, slots=True)
class WindowOutcome:
    """What came of a window: requests that ended in it."""

    policy: str
    succeeded: int
    failed: int
    """Answered too late, or never."""
    rejected: int
    cost: float | None = None
    """USD of the window over the requests or tasks that ended lately, φ; None where it says nothing."""
    seconds: float = 0.0
    """That the scheduler ran, ω."""

    @property
    def ended(self) -> int:
        """All of them."""
        return self.succeeded + self.failed + self.rejected

    @property
    def success(self) -> float:
        """Share that succeeded; 1 where nothing ended."""
        return self.succeeded / self.ended if self.ended else 1.0


@dataclass(frozen=True)
class Expectation:
    """What the fallback reaches by itself, as measured in training: success rate by demand."""

    demand: tuple[float, ...]
    """Requests a second, rising; what is outside was not seen."""
    rate: tuple[float, ...]
    """Success rate at each."""
    tolerance: float
    """How far below a selector may stay over some windows before the fallback takes over."""
    proven: bool = True
    """Whether the selector was better than the fallback at the end of training, by more than chance explains."""

    def covers(self, demand: float) -> bool:
        """Whether training saw such a demand."""
        return self.demand[0] <= demand <= self.demand[-1]

    def success(self, demand: float) -> float:
        """The success rate to expect."""
        return float(np.interp(demand, self.demand, self.rate))


class Future(Protocol):
    """What would come of each candidate from here; the higher the better. Handed to a selector that has ``foresee``."""

    def window(self, name: str, beyond: float) -> float:
        """If it decides in the next window, and the fallback for ``beyond`` seconds after it: the true future."""

    def whole(self, name: str) -> float:
        """If it decides until the run ends: the true future."""

    def imagined(self, name: str, samples: int, seed: int) -> float:
        """As ``window``, the mean over futures that are drawn from what is known; the same seed, the same futures."""


class SelectPolicy(Protocol):
    """A select policy; it may keep state of its own between calls and must be seeded."""

    @property
    def name(self) -> str:
        """Its fixed name."""

    @property
    def decision(self) -> str:
        """``select``."""

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins: forget everything, draw from ``seed`` from now on; refuse what it was not made for."""

    def choose(self, state: State, now: float) -> str:
        """One of ``Situation.candidates`` for the next window."""

    def learn(self, outcome: WindowOutcome) -> None:
        """The window is over."""
