"""``hpa``: Kubernetes' Horizontal Pod Autoscaler on CPU utilisation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from trimtab.policies.scale import checks
from trimtab.policies.scale.behaviour import Behaviour, History, constrain, parse
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics, Knob
from trimtab.policies.scale.window import instances_now, known


@dataclass(frozen=True, slots=True)
class Hpa:
    """The published algorithm with its published defaults.

    Proposal: utilisation = int(100 x use / request) of the ready pods, ratio = utilisation / target,
    ceil(ratio x ready) if the ratio is more than ``tolerance`` away from 1. Then ``behaviour``.
    """

    name: ClassVar[str] = "hpa"
    knob: ClassVar[Knob] = Knob("target", (20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 80, 90))

    target: int = 80
    """Per cent of the CPU request."""
    period: float = 15.0
    tolerance: float = 0.1
    minimum: int = 1
    maximum: int = 1_000_000
    behaviour: Behaviour = field(default_factory=Behaviour)
    """Also as a mapping: the ``behavior`` block of a HorizontalPodAutoscaler."""

    def __post_init__(self) -> None:
        checks.whole("target", self.target, 1)
        checks.positive("period", self.period)
        checks.not_negative("tolerance", self.tolerance)
        checks.whole("minimum", self.minimum, 1)
        checks.whole("maximum", self.maximum, self.minimum)
        object.__setattr__(self, "behaviour", parse(self.behaviour))

    def decide(self, metrics: FunctionMetrics, state: History | None, now: float) -> tuple[Desired, History]:
        """Propose, stabilise, limit the rate, clamp."""
        history = state or History()
        current = instances_now(metrics)
        if current == 0:
            return Desired(instances=self.minimum, reason="raised to the minimum"), history
        proposal = self.propose(metrics)
        if proposal is None:
            return HOLD, history
        bounds = (self.minimum, self.maximum)
        return finish(self.behaviour, history, current, proposal, now, bounds=bounds)

    def propose(self, metrics: FunctionMetrics) -> int | None:
        """Instances that would bring utilisation to the target; None without data.

        Pods that are not ready are set aside. On the way up they are then counted with no use, and the
        change is dropped if that brings the ratio into tolerance or turns its direction.
        """
        current = instances_now(metrics)
        if metrics.ready == 0 or metrics.cpu_limit <= 0 or not known(metrics, metrics.cpu_cores):
            return None
        ratio = self._ratio(metrics, metrics.ready)
        if metrics.starting == 0 or ratio <= 1.0:
            return current if self._tolerated(ratio) else math.ceil(ratio * metrics.ready)
        diluted = self._ratio(metrics, current)
        if self._tolerated(diluted) or diluted < 1.0:
            return current
        # Never below current here: diluted > 1.
        return math.ceil(diluted * current)

    def _ratio(self, metrics: FunctionMetrics, pods: int) -> float:
        return utilisation(metrics.cpu_cores, metrics.cpu_limit, pods) / self.target

    def _tolerated(self, ratio: float) -> bool:
        return 1.0 - self.tolerance <= ratio <= 1.0 + self.tolerance


def utilisation(cores: float, request: float, pods: int) -> int:
    """Whole per cent of the request that is in use, from whole millicores as the controller has them."""
    return 100 * round(1000 * cores) // max(1, pods * round(1000 * request))


def finish(
    behaviour: Behaviour,
    history: History,
    current: int,
    proposal: int,
    now: float,
    *,
    bounds: tuple[int, int],
) -> tuple[Desired, History]:
    """From a proposal to an answer within ``bounds``."""
    minimum, maximum = bounds
    if not minimum <= current <= maximum:
        # The controller repairs a count out of bounds first, whatever the metric says.
        return Desired(instances=min(max(current, minimum), maximum), reason="out of bounds"), history
    proposal = min(max(proposal, minimum), maximum)
    allowed, history = constrain(behaviour, history, current, proposal, now)
    reason = "proposal" if allowed == proposal else f"proposal {proposal} held back by behaviour"
    return Desired(instances=allowed, reason=reason), history
