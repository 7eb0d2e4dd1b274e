"""Poisson arrivals whose rate changes at given times."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.workload import RateStep
from trimtab.workload.spread import MOST_REQUESTS
from trimtab.workload.table import Floats


def stepped_arrivals(
    first: float, steps: Sequence[RateStep], unit: float, duration: float, random: np.random.Generator
) -> Floats:
    """Sorted arrivals up to ``duration``; rates are per ``unit`` seconds."""
    starts = [0.0, *(step.at for step in steps)]
    if any(after <= before for before, after in pairwise(starts)):
        raise TrimtabError(f"workload.steps: at = {starts[1:]}, must be above 0 and rise")
    edges = np.minimum([*starts, np.inf], duration)
    rates = np.array([first, *(step.rate for step in steps)]) / unit
    expected = rates * np.diff(edges)
    if expected.sum() > MOST_REQUESTS:
        raise TrimtabError(f"workload.rate: {expected.sum():.3g} arrivals, must be at most {MOST_REQUESTS:,}")
    counts = random.poisson(expected)
    inside = random.random(int(counts.sum())) * np.repeat(np.diff(edges), counts)
    return np.sort(np.repeat(edges[:-1], counts) + inside)
