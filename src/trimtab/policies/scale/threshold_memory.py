"""``threshold-memory``: one instance up while a container uses more than 256 MiB, else one down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trimtab.policies.scale import checks
from trimtab.policies.scale.contract import Desired, FunctionMetrics, Knob
from trimtab.policies.scale.threshold import step

MEBIBYTE = 2.0**20


@dataclass(frozen=True, slots=True)
class ThresholdMemory:
    """The second naive rule of the DQN autoscaler's slides; they give no period, 15 s is HPA's."""

    name: ClassVar[str] = "threshold-memory"
    knob: ClassVar[Knob] = Knob(
        "threshold", tuple(size * MEBIBYTE for size in (32, 64, 96, 128, 160, 192, 224, 256, 384, 512))
    )

    threshold: float = 256 * MEBIBYTE
    """Bytes of one container."""
    period: float = 15.0

    def __post_init__(self) -> None:
        checks.positive("threshold", self.threshold)
        checks.positive("period", self.period)

    def decide(self, metrics: FunctionMetrics, state: None, now: float) -> tuple[Desired, None]:
        """One up or one down."""
        return step(metrics, metrics.memory_bytes, self.threshold, "memory"), None
