"""A second scale policy that decides on the same metrics without acting."""

from __future__ import annotations

from typing import Any

from trimtab.control.guards import ScaleGuard
from trimtab.policies.scale.contract import Desired, FunctionMetrics


class ScaleShadow:
    """What it would have asked for, beside what was asked for."""

    def __init__(self, guard: ScaleGuard) -> None:
        self.guard = guard
        self.decisions = self.agreed = 0
        self.saved = 0
        """Instances that it would have asked for less, over all decisions."""
        self._states: dict[str, Any] = {}

    def decide(self, metrics: FunctionMetrics, chosen: int, now: float) -> dict[str, Any]:
        """Its answer on the metrics that the acting policy saw; for the audit."""
        desired, state = self.guard.decide(metrics, self._states.get(metrics.name), now)
        self._states[metrics.name] = state
        own = instances_of(desired, metrics)
        self.decisions += 1
        self.agreed += own == chosen
        self.saved += chosen - own
        return {"policy": self.guard.policy.name, "chosen": {"instances": own}, "agrees": own == chosen}

    def describe(self) -> dict[str, Any]:
        """For ``GET /v1/state``."""
        mean = self.saved / self.decisions if self.decisions else 0.0
        return {
            "policy": self.guard.policy.name, "decisions": self.decisions, "agreed": self.agreed,
            "predicted_gain": mean,
        }  # fmt: skip


def instances_of(desired: Desired, metrics: FunctionMetrics) -> int:
    """How many instances an answer asks for: one that holds, or that only sizes them, leaves as many as there are."""
    if not desired.valid or desired.instances is None:
        return metrics.ready + metrics.starting
    return desired.instances
