"""``vpa``: the recommender of Kubernetes' Vertical Pod Autoscaler, for the size of an instance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from trimtab.policies.scale import checks
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics, Knob
from trimtab.policies.scale.histogram import CPU_BUCKETS, MEMORY_BUCKETS, DecayingHistogram
from trimtab.policies.scale.window import EDGE, known

DAY = 86_400.0
SAMPLES_A_DAY = 1440.0
"""One a minute."""


@dataclass(frozen=True, slots=True, eq=False)
class VpaState:
    """Both histograms and the memory peak of the interval that is still open."""

    cpu: DecayingHistogram
    memory: DecayingHistogram
    first: float
    """When the first sample came."""
    samples: int
    peak: float
    """Largest memory of one instance in this interval; 0: no interval is open."""
    interval_end: float


@dataclass(frozen=True, slots=True)
class Resources:
    """Cores and bytes of one instance."""

    cpu: float
    memory: float


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What the recommender publishes."""

    lower: Resources
    target: Resources
    upper: Resources


@dataclass(frozen=True, slots=True)
class Vpa:
    """The published recommender with its published defaults; the number of instances stays as it is.

    target = percentile 0.90 x 1.15, at least 25m and 250 MB. The bounds widen with little evidence:
    confidence = min(days, samples / 1440); upper = percentile 0.95 x 1.15 x (1 + 1 / confidence),
    lower = percentile 0.50 x 1.15 x (1 + 0.001 / confidence)^-2.
    """

    name: ClassVar[str] = "vpa"
    knob: ClassVar[Knob] = Knob("safety_margin", (0.0, 0.05, 0.1, 0.15, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0))

    target_percentile: float = 0.90
    lower_percentile: float = 0.50
    upper_percentile: float = 0.95
    safety_margin: float = 0.15
    half_life: float = DAY
    cpu_weight: float = 0.1
    """Weight of a CPU sample of one instance."""
    memory_interval: float = DAY
    """One memory peak counts in each."""
    minimum_cpu: float = 0.025
    minimum_memory: float = 250e6
    period: float = 60.0

    def __post_init__(self) -> None:
        for percentile in ("target_percentile", "lower_percentile", "upper_percentile"):
            checks.fraction(percentile, getattr(self, percentile))
        for length in ("half_life", "cpu_weight", "memory_interval", "period"):
            checks.positive(length, getattr(self, length))
        for amount in ("safety_margin", "minimum_cpu", "minimum_memory"):
            checks.not_negative(amount, getattr(self, amount))

    def decide(self, metrics: FunctionMetrics, state: VpaState | None, now: float) -> tuple[Desired, VpaState | None]:
        """Add a sample of each resource, answer the targets."""
        if metrics.ready > 0 and known(metrics, metrics.cpu_cores, metrics.memory_bytes):
            state = self._add(state or self._new(now), metrics, now)
        if state is None:
            return HOLD, state
        target = self._sized(state, self.target_percentile, 1.0)
        return Desired(cpu=target.cpu, memory=target.memory, reason="recommendation"), state

    def recommend(self, state: VpaState, now: float) -> Recommendation:
        """Target and bounds."""
        evidence = confidence(state, now)
        return Recommendation(
            lower=self._sized(state, self.lower_percentile, multiplier(0.001, -2.0, evidence)),
            target=self._sized(state, self.target_percentile, 1.0),
            upper=self._sized(state, self.upper_percentile, multiplier(1.0, 1.0, evidence)),
        )

    def _new(self, now: float) -> VpaState:
        return VpaState(
            cpu=DecayingHistogram.empty(CPU_BUCKETS, self.half_life, now),
            memory=DecayingHistogram.empty(MEMORY_BUCKETS, self.half_life, now),
            first=now,
            samples=0,
            peak=0.0,
            interval_end=now + self.memory_interval,
        )

    def _add(self, state: VpaState, metrics: FunctionMetrics, now: float) -> VpaState:
        # The recommender adds a sample of every container to one histogram. Only their sum is known here:
        # their mean with the weight of all is the same when the load is spread evenly.
        cpu = state.cpu.add(metrics.cpu_cores / metrics.ready, self.cpu_weight * metrics.ready, now)
        state = replace(state, cpu=cpu, samples=state.samples + metrics.ready)
        return self._add_memory(state, metrics.memory_bytes / metrics.ready, now)

    def _add_memory(self, state: VpaState, memory: float, now: float) -> VpaState:
        """One peak an interval: a new peak takes the place of the old one."""
        if now >= state.interval_end - EDGE:
            passed = (now - state.interval_end + EDGE) // self.memory_interval + 1
            end = state.interval_end + passed * self.memory_interval
            state = replace(state, peak=0.0, interval_end=end)
        if memory <= state.peak:
            return state
        histogram = state.memory
        if state.peak > 0:
            histogram = histogram.subtract(state.peak, 1.0, state.interval_end)
        histogram = histogram.add(memory, 1.0, state.interval_end)
        return replace(state, memory=histogram, peak=memory)

    def _sized(self, state: VpaState, percentile: float, factor: float) -> Resources:
        scale = (1.0 + self.safety_margin) * factor
        cpu, memory = state.cpu.percentile(percentile), state.memory.percentile(percentile)
        return Resources(
            cpu=max(self.minimum_cpu, (cpu or 0.0) * scale),
            memory=max(self.minimum_memory, (memory or 0.0) * scale),
        )


def confidence(state: VpaState, now: float) -> float:
    """Days of evidence: time seen, or samples at one a minute, whichever is less."""
    return min((now - state.first) / DAY, state.samples / SAMPLES_A_DAY)


def multiplier(scale: float, exponent: float, evidence: float) -> float:
    """(1 + scale / confidence)^exponent; no evidence at all is infinitely far off."""
    if evidence <= 0:
        return float("inf") if exponent > 0 else 0.0
    return float((1.0 + scale / evidence) ** exponent)
