"""``residual``: square-root staffing with a learned correction, its margin set by the violations that are seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError, did_you_mean
from trimtab.policies.scale import checks, staffing
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics, Knob
from trimtab.policies.scale.staffing import COUNT, CPU, MARGIN, MEMORY, plan
from trimtab.policies.scale.window import known
from trimtab.policies.trained import Trained

Floats = npt.NDArray[np.float64]

FEATURES = staffing.FEATURES
_POSITIVE = ("fast", "slow", "target_slope", "prior", "patience", "pace")
"""Weights that are lengths of time or counts."""


@dataclass(frozen=True)
class Residual:
    """N = F + a + b x sqrt(F) + z x u + share x backlog, never below the offered load.

    F is the load one start-up ahead, u what a unit of margin is worth at it (by a learned power of the load, more
    when it was restless lately or rises), z the margin, and the backlog what will wait one start-up from now.
    z starts from a learned value for ``target`` and then follows the violations that are seen: above the target it
    grows, below it shrinks. With ``boost`` above 1 the CPU of an instance grows in place, at once, for what comes
    suddenly, and instances are for what stays.
    """

    name: ClassVar[str] = "residual"
    knob: ClassVar[Knob] = Knob("target", (0.0001, 0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1))

    weights: tuple[float, ...]
    target: float = 0.01
    """Share of requests that may miss their deadline."""
    boost: float = 1.0
    """Cores of an instance at most, over those that it has at first; 1: instances only."""
    minimum: int = 1
    period: float = 1.0

    def __post_init__(self) -> None:
        checks.fraction("target", self.target)
        checks.between("boost", self.boost, 1.0, 64.0)
        checks.whole("minimum", self.minimum, 1)
        checks.positive("period", self.period)
        settings = np.array([self.target, self.boost, self.minimum, self.period, math.nan])
        object.__setattr__(self, "_settings", settings)
        object.__setattr__(self, "_weights", np.array(self.weights, np.float64))

    def decide(self, metrics: FunctionMetrics, state: Floats | None, now: float) -> tuple[Desired, Floats | None]:
        """One tick; ``state`` is the memory of :mod:`staffing`, a new array at every call."""
        if metrics.service_mean is None or not known(metrics, metrics.service_mean):
            return HOLD, state
        memory = np.zeros(MEMORY) if state is None else state.copy()
        plan(memory, tick(metrics, now), self._settings, self._weights)  # type: ignore[attr-defined]
        cpu = float(memory[CPU]) if self.boost > 1.0 and memory[CPU] != metrics.cpu_limit else None
        return Desired(int(memory[COUNT]), cpu, reason=f"margin {memory[MARGIN]:.3g}"), memory


def tick(metrics: FunctionMetrics, now: float) -> Floats:
    """What is seen, as :mod:`staffing` wants it."""
    assert metrics.service_mean is not None
    return np.array([
        now, metrics.window, metrics.arrivals, metrics.violations, metrics.completions, metrics.queued, metrics.ready,
        metrics.concurrency, metrics.start_up, metrics.service_mean, metrics.cpu_limit,
    ], np.float64)  # fmt: skip


def build(trained: Trained, parameters: dict[str, Any]) -> Residual:
    """The policy of a trained folder."""
    trained.expect(FEATURES, {"weights": (len(FEATURES),)})
    allowed = ("target", "boost", "minimum", "period")
    for key in parameters:
        if key not in allowed:
            raise TrimtabError(
                f"policy 'residual': parameter = {key!r}, must be one of: {', '.join(allowed)}"
                f"{did_you_mean(key, allowed)}"
            )
    weights = trained.arrays["weights"].astype(np.float64)
    for name in _POSITIVE:
        if weights[FEATURES.index(name)] <= 0:
            raise TrimtabError(f"{trained.where}: weight {name!r} = {weights[FEATURES.index(name)]:g}, must be above 0")
    return Residual(tuple(float(weight) for weight in weights), **parameters)
