"""A histogram with exponentially growing buckets whose old samples fade, as the VPA recommender keeps it.

bucket start(n) = first x (ratio^n - 1) / (ratio - 1)
weight of a sample at time t = weight x 2^((t - reference) / half-life)

Samples are never aged: new ones weigh more, and percentiles only see proportions. When the exponent would
get too large, all weights are scaled down and the reference moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LARGEST_EXPONENT = 100
"""Half-lives after which weights are scaled back: 2^100 is still far from overflow."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """Bucket boundaries up to ``largest``; the last bucket has no end."""

    first: float
    largest: float
    ratio: float = 1.05
    starts: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        growth = self.ratio - 1.0
        count = math.ceil(math.log(self.largest * growth / self.first + 1.0) / math.log(self.ratio)) + 1
        starts = self.first * (self.ratio ** np.arange(count) - 1.0) / growth
        starts.flags.writeable = False
        object.__setattr__(self, "starts", starts)

    def find(self, value: float) -> int:
        """The bucket that holds ``value``."""
        return max(0, int(np.searchsorted(self.starts, value, side="right")) - 1)

    def end(self, bucket: int) -> float:
        """Where a bucket ends; the last one, which does not, answers with its start."""
        return float(self.starts[min(bucket + 1, len(self.starts) - 1)])


CPU_BUCKETS = Buckets(first=0.01, largest=1000.0)
"""Cores."""
MEMORY_BUCKETS = Buckets(first=1e7, largest=1e12)
"""Bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class DecayingHistogram:
    """Immutable: adding a sample answers a new histogram."""

    buckets: Buckets
    half_life: float
    weights: Floats
    reference: float = 0.0
    epsilon: float = 0.001 * 0.1
    """A bucket that weighs less counts as empty."""

    @classmethod
    def empty(cls, buckets: Buckets, half_life: float, start: float) -> DecayingHistogram:
        """No samples yet; the first is expected about ``start``."""
        return cls(buckets, half_life, np.zeros(len(buckets.starts)), start)

    def add(self, value: float, weight: float, time: float) -> DecayingHistogram:
        """The histogram with one more sample."""
        base = self._shifted(time) if time - self.reference > LARGEST_EXPONENT * self.half_life else self
        weights = base.weights.copy()
        weights[base.buckets.find(value)] += weight * base._factor(time)
        return replace(base, weights=weights)

    def subtract(self, value: float, weight: float, time: float) -> DecayingHistogram:
        """The histogram without a sample that was added before with the same arguments."""
        weights = self.weights.copy()
        bucket = self.buckets.find(value)
        left = weights[bucket] - weight * self._factor(time)
        weights[bucket] = left if left >= self.epsilon else 0.0
        return replace(self, weights=weights)

    def percentile(self, share: float) -> float | None:
        """The end of the first bucket up to which ``share`` of all weight lies; None when empty."""
        filled = np.flatnonzero(self.weights >= self.epsilon)
        if len(filled) == 0:
            return None
        lowest, highest = int(filled[0]), int(filled[-1])
        cumulative = np.cumsum(self.weights[lowest : highest + 1])
        threshold = share * float(np.sum(self.weights))
        return self.buckets.end(min(lowest + int(np.searchsorted(cumulative, threshold)), highest))

    def _factor(self, time: float) -> float:
        return float(2.0 ** ((time - self.reference) / self.half_life))

    def _shifted(self, time: float) -> DecayingHistogram:
        # A whole number of half-lives, so that scaling by a power of two loses no digits.
        steps = round((time - self.reference) / self.half_life)
        reference = self.reference + steps * self.half_life
        return replace(self, weights=np.ldexp(self.weights, -steps), reference=reference)
