"""``square-root``: staff for the offered load plus a margin that grows with its square root."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from trimtab.policies.scale import checks
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics, Knob
from trimtab.policies.scale.window import (
    Proposals,
    Sample,
    Samples,
    add_sample,
    known,
    largest_recent,
    time_average,
)


@dataclass(frozen=True, slots=True)
class SquareRootState:
    """Recent rates, and recent proposals for the delay on the way down."""

    rates: Samples = ()
    proposals: Proposals = ()


@dataclass(frozen=True, slots=True)
class SquareRoot:
    """N = ceil((R + c x sqrt(R) + 0.05 x queue) / concurrency), R = rate over 5 s x mean service time.

    The fluctuation of a Poisson load R is sqrt(R), so ``c`` is the margin in standard deviations. The count
    follows a rise at once and a fall when it has lasted ``down_delay`` seconds.
    """

    name: ClassVar[str] = "square-root"
    knob: ClassVar[Knob] = Knob("c", (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0))

    c: float = 2.0
    """Margin in standard deviations; below 0 it runs short on purpose."""
    queue_share: float = 0.05
    """Extra instances per waiting request."""
    rate_window: float = 5.0
    down_delay: float = 30.0
    """0: follow a fall at once."""
    minimum: int = 1
    period: float = 1.0

    def __post_init__(self) -> None:
        checks.number("c", self.c)
        checks.not_negative("queue_share", self.queue_share)
        checks.positive("rate_window", self.rate_window)
        checks.not_negative("down_delay", self.down_delay)
        checks.whole("minimum", self.minimum, 0)
        checks.positive("period", self.period)

    def decide(
        self, metrics: FunctionMetrics, state: SquareRootState | None, now: float
    ) -> tuple[Desired, SquareRootState]:
        """Rate, staffing, delay."""
        state = state or SquareRootState()
        rates = self._observe(state.rates, metrics, now)
        rate = time_average(rates, now, max(self.rate_window, metrics.window))
        if rate is None or metrics.service_mean is None:
            return HOLD, SquareRootState(rates, state.proposals)
        count = staff(rate * metrics.service_mean, self.c, self.queue_share, metrics)
        count, proposals = largest_recent(state.proposals, count, now, self.down_delay)
        answer = Desired(instances=max(self.minimum, count), reason=f"rate {rate:.3g}/s")
        return answer, SquareRootState(rates, proposals)

    def _observe(self, rates: Samples, metrics: FunctionMetrics, now: float) -> Samples:
        if not known(metrics):
            return rates
        return add_sample(rates, Sample(now, metrics.window, metrics.arrival_rate), self.rate_window)


def staff(load: float, c: float, queue_share: float, metrics: FunctionMetrics) -> int:
    """Instances for an offered load in Erlang: ceil((R + c sqrt(R) + share x queue) / concurrency)."""
    slots = load + c * math.sqrt(load) + queue_share * metrics.queued
    # Rounded first: 3 x 0.1 / 0.1 must need three, not four.
    return max(0, math.ceil(round(slots / metrics.concurrency, 9)))
