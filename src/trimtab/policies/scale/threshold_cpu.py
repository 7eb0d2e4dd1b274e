"""``threshold-cpu``: one instance up while a container uses more than 250m of a core, else one down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trimtab.policies.scale import checks
from trimtab.policies.scale.contract import Desired, FunctionMetrics, Knob
from trimtab.policies.scale.threshold import step


@dataclass(frozen=True, slots=True)
class ThresholdCpu:
    """The first naive rule of the DQN autoscaler's slides; they give no period, 15 s is HPA's."""

    name: ClassVar[str] = "threshold-cpu"
    knob: ClassVar[Knob] = Knob("threshold", (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95))

    threshold: float = 0.25
    """Cores of one container: 250m."""
    period: float = 15.0

    def __post_init__(self) -> None:
        checks.positive("threshold", self.threshold)
        checks.positive("period", self.period)

    def decide(self, metrics: FunctionMetrics, state: None, now: float) -> tuple[Desired, None]:
        """One up or one down."""
        return step(metrics, metrics.cpu_cores, self.threshold, "CPU"), None
