"""Comparing policies over seeds, and how evenly a policy treats functions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Change:
    """A relative change against the baseline, and its 95 % interval where there is one."""

    change: float
    low: float | None = None
    high: float | None = None

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out zero; without an interval, nothing is."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def t_interval(values: npt.NDArray[np.float64]) -> tuple[float, float] | None:
    """Student's 95 % interval of the mean; None below two values.

    mean ± t(0.975, n − 1) · s / √n. Worked example: 1, 2, 3 has mean 2, s = 1, t = 4.3027, so
    2 ± 2.4841.
    """
    count = len(values)
    if count < 2:
        return None
    from scipy.special import stdtrit

    mean = float(values.mean())
    half = float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2)) * float(values.std(ddof=1)) / math.sqrt(count)
    return mean - half, mean + half


def paired_change(figures: Mapping[int, float], baseline: Mapping[int, float]) -> Change | None:
    """How much a figure differs from the baseline's, over the seeds that both have.

    Every policy sees the same arrivals and work in a seed, so the differences of a seed are taken
    first: d_i = (x_i − b_i) / mean(b). Their mean is exactly (mean(x) − mean(b)) / mean(b), and
    their t interval lies around it. Dividing by the mean, not by each b_i, keeps a seed whose
    baseline happens to be near zero from deciding the result. None where the baseline is zero and
    the policy is not: no ratio describes that.
    """
    seeds = sorted(figures.keys() & baseline.keys())
    if not seeds:
        return None
    ours = np.array([figures[seed] for seed in seeds], dtype=np.float64)
    theirs = np.array([baseline[seed] for seed in seeds], dtype=np.float64)
    if np.array_equal(ours, theirs):
        return Change(0.0, 0.0, 0.0)
    scale = abs(float(theirs.mean()))
    if scale == 0:
        return None
    differences = (ours - theirs) / scale
    low, high = t_interval(differences) or (None, None)
    return Change(float(differences.mean()), low, high)


def jain(values: npt.NDArray[np.float64]) -> float:
    """Jain's index (Σx)² / (n Σx²): 1 where all are equal, 1/n where one has everything."""
    squares = float(np.square(values).sum())
    if len(values) == 0 or squares == 0:
        return 1.0
    return min(1.0, float(values.sum()) ** 2 / (len(values) * squares))


def slowdowns(fct: npt.NDArray[np.float64], function: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """Mean completion time of each function over its own good case, its 5th percentile.

    A function that takes 10 s by nature is not treated worse than one of 10 ms; what counts is how
    much longer than its good case a function usually takes. Requests without an answer are left out.
    """
    answered = np.isfinite(fct)
    times, owners = fct[answered], function[answered]
    if len(times) == 0:
        return np.empty(0)
    order = np.lexsort((times, owners))
    times, owners = times[order], owners[order]
    first = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    counts = np.diff(np.r_[first, len(owners)])
    good = times[first + (0.05 * (counts - 1)).astype(np.int64)]
    means = np.add.reduceat(times, first) / counts
    slow: npt.NDArray[np.float64] = means[good > 0] / good[good > 0]
    return slow
