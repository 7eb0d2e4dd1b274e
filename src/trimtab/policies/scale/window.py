"""Sliding windows over time, as immutable tuples: a time average, and the largest of recent proposals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trimtab.policies.scale.contract import FunctionMetrics

# Clocks add up in floating point: 0.1 three times is not 0.3. A sample this close to the edge of a window
# counts as on the edge.
EDGE = 1e-9


@dataclass(frozen=True, slots=True)
class Sample:
    """The mean ``value`` of something over the ``length`` seconds that ended at ``end``."""

    end: float
    length: float
    value: float


Samples = tuple[Sample, ...]
Proposals = tuple[tuple[float, int], ...]
"""Time and proposed instances, oldest first."""


def known(metrics: FunctionMetrics, *figures: float) -> bool:
    """Whether a time has passed that the figures can be about, and all of them are numbers."""
    return metrics.window > 0 and all(math.isfinite(figure) for figure in figures)


def instances_now(metrics: FunctionMetrics) -> int:
    """Instances that are up or on their way: what platforms call the current replicas."""
    return metrics.ready + metrics.starting


def add_sample(samples: Samples, sample: Sample, keep: float) -> Samples:
    """Append a sample and forget those that ended ``keep`` seconds before it or earlier."""
    cutoff = sample.end - keep + EDGE
    return (*(old for old in samples if old.end > cutoff), sample)


def time_average(samples: Samples, now: float, length: float) -> float | None:
    """Mean over the last ``length`` seconds, weighted by time; None if no sample reaches into them.

    Only time that samples cover counts, so a window that is not full yet is not diluted by zeros.
    """
    total = covered = 0.0
    begin = now - length
    for sample in samples:
        overlap = min(sample.end, now) - max(sample.end - sample.length, begin)
        if overlap > EDGE:
            total += overlap * sample.value
            covered += overlap
    return total / covered if covered > 0 else None


def largest_recent(proposals: Proposals, proposal: int, now: float, length: float) -> tuple[int, Proposals]:
    """The largest proposal of the last ``length`` seconds, this one included, and the proposals to keep.

    A proposal that a later one equals or exceeds can never be the largest again, so it is dropped at once:
    what is kept falls strictly with time, and the first one is the answer.
    """
    cutoff = now - length + EDGE
    kept = tuple(old for old in proposals if old[0] > cutoff and old[1] > proposal)
    kept = (*kept, (now, proposal))
    return kept[0][1], kept
