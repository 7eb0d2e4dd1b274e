"""``hpa-inflight``: Kubernetes' Horizontal Pod Autoscaler on requests in flight per pod (AverageValue)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from trimtab.policies.scale import checks
from trimtab.policies.scale.behaviour import Behaviour, History, parse
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics, Knob
from trimtab.policies.scale.hpa import finish
from trimtab.policies.scale.window import instances_now, known


@dataclass(frozen=True, slots=True)
class HpaInflight:
    """An external metric with target type AverageValue.

    ratio = in-flight / (target x pods); outside the tolerance the proposal is ceil(in-flight / target),
    whatever the current count. The target is a share of what one instance serves at the same time, so that
    one setting suits functions of any concurrency.
    """

    name: ClassVar[str] = "hpa-inflight"
    knob: ClassVar[Knob] = Knob(
        "utilisation", (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2)
    )

    utilisation: float = 0.7
    """In-flight requests aimed at, as a share of an instance's concurrency."""
    period: float = 15.0
    tolerance: float = 0.1
    minimum: int = 1
    maximum: int = 1_000_000
    behaviour: Behaviour = field(default_factory=Behaviour)
    """Also as a mapping: the ``behavior`` block of a HorizontalPodAutoscaler."""

    def __post_init__(self) -> None:
        checks.positive("utilisation", self.utilisation)
        checks.positive("period", self.period)
        checks.not_negative("tolerance", self.tolerance)
        checks.whole("minimum", self.minimum, 0)
        checks.whole("maximum", self.maximum, max(1, self.minimum))
        object.__setattr__(self, "behaviour", parse(self.behaviour))

    def decide(self, metrics: FunctionMetrics, state: History | None, now: float) -> tuple[Desired, History]:
        """Propose, stabilise, limit the rate, clamp."""
        history = state or History()
        proposal = self.propose(metrics)
        if proposal is None:
            return HOLD, history
        bounds = (self.minimum, self.maximum)
        return finish(self.behaviour, history, instances_now(metrics), proposal, now, bounds=bounds)

    def propose(self, metrics: FunctionMetrics) -> int | None:
        """Instances that would bring the in-flight requests of each to the target; None without data."""
        if not known(metrics, metrics.inflight):
            return None
        target = self.utilisation * metrics.concurrency
        current = instances_now(metrics)
        # From zero the ratio is infinite: never within tolerance.
        if current > 0 and abs(1.0 - metrics.inflight / (target * current)) <= self.tolerance:
            return current
        return math.ceil(metrics.inflight / target)
