"""From figures by seed to a measurement with its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from trimtab.papers.claim import NotTestable
from trimtab.papers.criterion import Measurement
from trimtab.report.statistics import t_interval

BySeed = Mapping[int, float]
_RESAMPLES = 2_000


def mean(values: BySeed | Sequence[float], remark: str = "") -> Measurement:
    """The mean over seeds with Student's interval."""
    found = np.array(list(values.values()) if isinstance(values, Mapping) else list(values), dtype=np.float64)
    if len(found) == 0:
        raise NotTestable("nothing was measured")
    low, high = t_interval(found) or (None, None)
    return Measurement(float(found.mean()), low, high, remark)


def difference(ours: BySeed, theirs: BySeed, scale: float = 1.0, remark: str = "") -> Measurement:
    """Ours minus theirs, paired by seed."""
    return mean({seed: scale * (ours[seed] - theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())}, remark)


def reduction(ours: BySeed, theirs: BySeed, remark: str = "") -> Measurement:
    """By how many percent ours is lower, paired by seed: differences over the mean of theirs."""
    seeds = sorted(ours.keys() & theirs.keys())
    base = float(np.mean([theirs[seed] for seed in seeds])) if seeds else 0.0
    if base == 0.0:
        raise NotTestable("the baseline is zero: no ratio describes that")
    return mean({seed: 100.0 * (theirs[seed] - ours[seed]) / base for seed in seeds}, remark)


def resampled(statistic: Callable[[Sequence[int]], float], seeds: Sequence[int], remark: str = "") -> Measurement:
    """A statistic of all seeds, such as a count on means; its interval from resampling the seeds.

    The interval is that of the middle 95 % of 2,000 resamples (bootstrap), drawn the same every time.
    """
    value = statistic(seeds)
    if len(seeds) < 2:
        return Measurement(value, remark=remark)
    random = np.random.default_rng(0)
    draws = random.integers(0, len(seeds), (_RESAMPLES, len(seeds)))
    found = [statistic([seeds[index] for index in draw]) for draw in draws.tolist()]
    low, high = np.percentile(found, [2.5, 97.5])
    return Measurement(value, float(low), float(high), remark)


def change_of_means(before: Sequence[float], after: Sequence[float], remark: str = "") -> Measurement:
    """The mean of one stretch minus that of an earlier one, with Welch's interval: not paired."""
    first, last = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    value = float(last.mean() - first.mean())
    if min(len(first), len(last)) < 2:
        return Measurement(value, remark=remark)
    parts = [float(each.var(ddof=1)) / len(each) for each in (first, last)]
    total = sum(parts)
    if total == 0.0:
        return Measurement(value, value, value, remark)
    from scipy.special import stdtrit

    freedom = total**2 / sum(part**2 / (len(each) - 1) for part, each in zip(parts, (first, last)))
    half = float(stdtrit(freedom, 0.975)) * total**0.5
    return Measurement(value, value - half, value + half, remark)
