"""Guards around every scale decision, learned or not: bounds, bad numbers, stale metrics, errors.

On any of them the answer is replaced, the event is counted and the reason recorded: a policy can never
stop the service.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from trimtab.policies.scale.contract import Desired, FunctionMetrics, ScalePolicy


@dataclass
class ScaleGuard:
    """Wraps a scale policy; ``events`` counts why it stepped in."""

    policy: ScalePolicy
    minimum: int
    maximum: int
    cpu_minimum: float
    cpu_maximum: float
    stale_after: float = 60.0
    events: Counter[str] = field(default_factory=Counter)

    def decide(self, metrics: FunctionMetrics, state: Any, now: float) -> tuple[Desired, Any]:
        """The policy's answer within bounds; hold when it fails or its metrics are too old."""
        if metrics.age > self.stale_after:
            return self._hold("stale metrics"), state
        try:
            desired, state = self.policy.decide(metrics, state, now)
        except (ArithmeticError, ValueError) as error:
            return self._hold(f"{type(error).__name__} in the policy"), state
        if not desired.valid:
            return desired, state
        return self._bounded(desired), state

    def _hold(self, reason: str) -> Desired:
        self.events[reason] += 1
        return Desired(valid=False, reason=reason)

    def _bounded(self, desired: Desired) -> Desired:
        instances = desired.instances
        if instances is not None and not math.isfinite(instances):
            return self._hold("instances not a number")
        for value in (desired.cpu, desired.memory):
            if value is not None and (not math.isfinite(value) or value <= 0.0):
                return self._hold("size not a positive number")
        if instances is not None:
            instances = min(max(int(instances), self.minimum), self.maximum)
        cpu = desired.cpu
        if cpu is not None:
            cpu = min(max(cpu, self.cpu_minimum), self.cpu_maximum)
        return Desired(instances, cpu, desired.memory, True, desired.reason)
