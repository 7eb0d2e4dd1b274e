"""``fixed``: always the same number of instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trimtab.policies.scale import checks
from trimtab.policies.scale.contract import Desired, FunctionMetrics, Knob


@dataclass(frozen=True, slots=True)
class Fixed:
    """A size that somebody chose once. It needs no data, so it never holds."""

    name: ClassVar[str] = "fixed"
    knob: ClassVar[Knob] = Knob("instances", (1, 2, 4, 8, 16, 22, 26, 30, 34, 38, 44, 52, 64, 96))

    instances: int = 10
    period: float = 15.0

    def __post_init__(self) -> None:
        checks.whole("instances", self.instances, 0)
        checks.positive("period", self.period)

    def decide(self, metrics: FunctionMetrics, state: None, now: float) -> tuple[Desired, None]:
        """The fixed number."""
        return Desired(instances=self.instances, reason="fixed size"), None
