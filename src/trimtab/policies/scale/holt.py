"""``holt``: forecast the rate to when a new instance could serve, then square-root staffing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trimtab.policies.scale import checks
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics, Knob
from trimtab.policies.scale.square_root import staff
from trimtab.policies.scale.window import Proposals, known, largest_recent


@dataclass(frozen=True, slots=True)
class HoltState:
    """Level (requests per second) and trend (the same, per second) of the rate."""

    level: float
    trend: float
    time: float
    proposals: Proposals = ()


@dataclass(frozen=True, slots=True)
class Holt:
    """Holt's double exponential smoothing over the rate of each tick, d seconds after the last.

    level' = a x rate + (1 - a) x (level + trend x d)
    trend' = b x (level' - level) / d + (1 - b) x trend
    forecast = level' + trend' x start-up, never below 0
    """

    name: ClassVar[str] = "holt"
    knob: ClassVar[Knob] = Knob("c", (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0))

    c: float = 2.0
    """Margin in standard deviations of the load; below 0 it runs short on purpose."""
    level_smoothing: float = 0.3
    """a: share of the newest rate in the level."""
    trend_smoothing: float = 0.1
    """b: share of the newest slope in the trend."""
    queue_share: float = 0.05
    """Extra instances per waiting request."""
    down_delay: float = 30.0
    """0: follow a fall at once."""
    minimum: int = 1
    period: float = 1.0

    def __post_init__(self) -> None:
        checks.number("c", self.c)
        checks.fraction("level_smoothing", self.level_smoothing)
        checks.fraction("trend_smoothing", self.trend_smoothing)
        checks.not_negative("queue_share", self.queue_share)
        checks.not_negative("down_delay", self.down_delay)
        checks.whole("minimum", self.minimum, 0)
        checks.positive("period", self.period)

    def decide(self, metrics: FunctionMetrics, state: HoltState | None, now: float) -> tuple[Desired, HoltState | None]:
        """Smooth, forecast, staff, delay."""
        if known(metrics):
            state = self._smooth(state, metrics.arrival_rate, now)
        if state is None or metrics.service_mean is None:
            return HOLD, state
        rate = forecast(state, now + metrics.start_up)
        count = staff(rate * metrics.service_mean, self.c, self.queue_share, metrics)
        count, proposals = largest_recent(state.proposals, count, now, self.down_delay)
        answer = Desired(instances=max(self.minimum, count), reason=f"forecast {rate:.3g}/s")
        return answer, HoltState(state.level, state.trend, state.time, proposals)

    def _smooth(self, state: HoltState | None, rate: float, now: float) -> HoltState:
        if state is None or now <= state.time:
            # The first rate is all that is known, and a repeated tick brings nothing new.
            return state or HoltState(level=rate, trend=0.0, time=now)
        elapsed = now - state.time
        a, b = self.level_smoothing, self.trend_smoothing
        level = a * rate + (1 - a) * (state.level + state.trend * elapsed)
        trend = b * (level - state.level) / elapsed + (1 - b) * state.trend
        return HoltState(level, trend, now, state.proposals)


def forecast(state: HoltState, time: float) -> float:
    """The rate at ``time`` if the trend goes on; a rate is never negative."""
    return max(0.0, state.level + state.trend * (time - state.time))
