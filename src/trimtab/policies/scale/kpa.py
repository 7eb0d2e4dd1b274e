"""``kpa``: Knative's Pod Autoscaler on concurrency, with its stable and panic windows and scale to zero."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from trimtab.policies.scale import checks
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics, Knob
from trimtab.policies.scale.window import (
    EDGE,
    Proposals,
    Sample,
    Samples,
    add_sample,
    instances_now,
    known,
    largest_recent,
    time_average,
)


@dataclass(frozen=True, slots=True)
class KpaState:
    """What KPA remembers of a function."""

    samples: Samples = ()
    """In-flight requests over the stable window."""
    panic_since: float | None = None
    """When the panic threshold was last exceeded; None in stable mode."""
    panic_peak: int = 0
    """The most instances asked for in this panic."""
    proposals: Proposals = ()
    """For the scale-down delay."""
    active_since: float | None = None
    """When the function last came up from zero."""
    inactive_since: float | None = None
    """When it was found idle; the last instance goes a grace period later."""


class Wanted(NamedTuple):
    """Instances that each window asks for, within the rates, and whether panic is due."""

    stable: int
    panic: int
    over: bool


@dataclass(frozen=True, slots=True)
class Kpa:
    """The published algorithm with its published defaults.

    target = max(0.01, total x utilisation), total = concurrency of an instance;
    each window wants ceil(average in-flight / target), kept between floor(ready / 2) and 1000 x ready;
    panic begins at ceil(panic average / target) >= 2 x ready and lasts until one stable window after the
    last such moment; during it the count only grows.
    """

    name: ClassVar[str] = "kpa"
    knob: ClassVar[Knob] = Knob(
        "utilisation", (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 1.0)
    )

    utilisation: float = 0.7
    """Share of an instance's concurrency to aim at."""
    total: float | None = None
    """Requests of one instance; None: its concurrency."""
    period: float = 2.0
    stable_window: float = 60.0
    panic_window_share: float = 0.1
    """Panic window as a share of the stable one: 6 s."""
    panic_threshold: float = 2.0
    max_scale_up_rate: float = 1000.0
    max_scale_down_rate: float = 2.0
    scale_down_delay: float = 0.0
    activation_scale: int = 1
    """Instances to come up with, from zero."""
    min_scale: int = 0
    max_scale: int = 0
    """0: no limit."""
    scale_to_zero_grace: float = 30.0

    def __post_init__(self) -> None:
        checks.fraction("utilisation", self.utilisation)
        if self.total is not None:
            checks.positive("total", self.total)
        checks.positive("period", self.period)
        checks.between("stable_window", self.stable_window, 6, 3600)
        checks.between("panic_window_share", self.panic_window_share, 0.01, 1)
        checks.between("panic_threshold", self.panic_threshold, 1.1, 10)
        checks.above("max_scale_up_rate", self.max_scale_up_rate, 1)
        checks.above("max_scale_down_rate", self.max_scale_down_rate, 1)
        checks.not_negative("scale_down_delay", self.scale_down_delay)
        checks.whole("activation_scale", self.activation_scale, 1)
        checks.whole("min_scale", self.min_scale, 0)
        checks.whole("max_scale", self.max_scale, 0)
        within = self.max_scale == 0 or self.max_scale >= self.min_scale
        checks.require(within, "max_scale", self.max_scale, f"0 or at least min_scale = {self.min_scale}")
        checks.not_negative("scale_to_zero_grace", self.scale_to_zero_grace)

    def decide(self, metrics: FunctionMetrics, state: KpaState | None, now: float) -> tuple[Desired, KpaState]:
        """Average, want, panic or not, delay, scale to zero, clamp."""
        state = state or _new(metrics, now)
        if known(metrics, metrics.inflight):
            sample = Sample(now, metrics.window, metrics.inflight)
            state = replace(state, samples=add_sample(state.samples, sample, self.stable_window))
        wanted = self._want(metrics, state.samples, now)
        if wanted is None:
            return HOLD, state
        state = self._update_panic(state, wanted, now)
        count, state = self._choose(state, wanted)
        if self.scale_down_delay > 0:
            count, proposals = largest_recent(state.proposals, count, now, self.scale_down_delay)
            state = replace(state, proposals=proposals)
        reason = "stable window" if state.panic_since is None else "panic"
        return self._apply(metrics, state, count, reason, now)

    def target(self, metrics: FunctionMetrics) -> float:
        """In-flight requests of one instance to aim at."""
        total = float(metrics.concurrency) if self.total is None else self.total
        return max(0.01, total * self.utilisation)

    def _want(self, metrics: FunctionMetrics, samples: Samples, now: float) -> Wanted | None:
        stable_average = time_average(samples, now, self.stable_window)
        panic_average = time_average(samples, now, max(1.0, self.stable_window * self.panic_window_share))
        if stable_average is None or panic_average is None:
            return None
        target = self.target(metrics)
        stable, panic = math.ceil(stable_average / target), math.ceil(panic_average / target)
        ready = max(1, metrics.ready)
        return Wanted(
            stable=self._within_rates(stable, ready),
            panic=self._within_rates(panic, ready),
            over=panic / ready >= self.panic_threshold,
        )

    def _within_rates(self, count: int, ready: int) -> int:
        # The ceiling lets a slow rate (1.1 of 3 pods) still add one pod; the floor does the same downwards.
        highest = math.ceil(self.max_scale_up_rate * ready)
        lowest = math.floor(ready / self.max_scale_down_rate)
        limited = min(max(count, lowest), highest)
        return max(limited, self.activation_scale) if count > 0 else limited

    def _update_panic(self, state: KpaState, wanted: Wanted, now: float) -> KpaState:
        if wanted.over:
            return replace(state, panic_since=now)
        if state.panic_since is not None and now - state.panic_since > self.stable_window + EDGE:
            return replace(state, panic_since=None, panic_peak=0)
        return state

    def _choose(self, state: KpaState, wanted: Wanted) -> tuple[int, KpaState]:
        if state.panic_since is None:
            return wanted.stable, state
        peak = max(state.panic_peak, wanted.stable, wanted.panic)
        return peak, replace(state, panic_peak=peak)

    def _apply(
        self, metrics: FunctionMetrics, state: KpaState, count: int, reason: str, now: float
    ) -> tuple[Desired, KpaState]:
        current = instances_now(metrics)
        if current == 0 and count > 0:
            state = replace(state, active_since=now)
        if count > 0:
            state = replace(state, inactive_since=None)
        elif self.min_scale == 0:
            count, state = self._to_zero(state, current, now)
            reason = "idle"
        count = max(count, self.min_scale)
        if self.max_scale > 0:
            count = min(count, self.max_scale)
        return Desired(instances=count, reason=reason), state

    def _to_zero(self, state: KpaState, current: int, now: float) -> tuple[int, KpaState]:
        """Keep the last instance for a stable window after activation, and for the grace period after that.

        Zero is wanted only once the stable average is zero, so the function has then been idle for a whole
        stable window (or for all of its shorter life, which is what the first condition is for).
        """
        if current == 0:
            return 0, state
        if state.inactive_since is None:
            if state.active_since is None or now - state.active_since >= self.stable_window - EDGE:
                state = replace(state, inactive_since=now)
            return 1, state
        if now - state.inactive_since >= self.scale_to_zero_grace - EDGE:
            return 0, replace(state, active_since=None, inactive_since=None)
        return 1, state


def _new(metrics: FunctionMetrics, now: float) -> KpaState:
    """A new autoscaler over more than one pod starts in panic: without history it must not shrink them."""
    if metrics.ready > 1:
        return KpaState(panic_since=now, panic_peak=metrics.ready, active_since=now)
    return KpaState(active_since=now)
