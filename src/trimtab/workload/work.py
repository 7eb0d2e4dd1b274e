"""Core-seconds of each request, drawn from its function's distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trimtab.scenario.model import Function
from trimtab.workload.table import Floats, Ints


def draw_work(functions: Sequence[Function], function: Ints, random: np.random.Generator) -> Floats:
    """One draw a request; all requests of a distribution at once."""
    mean = np.array([one.work for one in functions])
    deviation = np.array([one.work_deviation for one in functions])
    kinds = [one.distribution for one in functions]
    present = sorted(set(kinds))
    if len(present) == 1:
        return _draw(present[0], mean, deviation, function, random)
    kind_of = np.array([present.index(kind) for kind in kinds], np.int8)[function]
    work = np.empty(len(function))
    for index, kind in enumerate(present):
        rows = np.flatnonzero(kind_of == index)
        work[rows] = _draw(kind, mean, deviation, function[rows], random)
    return work


def draw_rest(functions: Sequence[Function], function: Ints, done: Floats, random: np.random.Generator) -> Floats:
    """Work that is left of requests that have ``done`` so much and have not ended: drawn given just that."""
    from scipy.special import ndtr, ndtri

    mean = np.array([one.work for one in functions])[function]
    deviation = np.array([one.work_deviation for one in functions])[function]
    kinds = np.array([one.distribution for one in functions])[function]
    share = random.random(len(function))
    sigma = np.sqrt(np.log1p(deviation**2))
    with np.errstate(divide="ignore"):
        passed = np.log(done / (mean * np.exp(-(sigma**2) / 2))) / np.maximum(sigma, 1e-12)
    # of the upper tail, so that work far beyond what is usual keeps its digits
    logs = -ndtri(np.maximum(ndtr(-passed) * (1.0 - share), 1e-300)) * sigma
    lognormal = mean * np.exp(logs - sigma**2 / 2) - done
    half = np.sqrt(3.0) * deviation * mean
    lowest = np.maximum(done, mean - half)
    uniform = lowest + share * np.maximum(mean + half - lowest, 0.0) - done
    exponential = -mean * np.log1p(-share)
    found = np.select(
        [kinds == "lognormal", kinds == "uniform", kinds == "exponential"],
        [lognormal, uniform, exponential],
        mean - done,
    )
    left: Floats = np.maximum(found, 1e-3 * mean)
    return left


def off_cpu_time(functions: Sequence[Function], function: Ints) -> Floats:
    """Seconds off the CPU of each request; an empty column where no function has any."""
    seconds = np.array([one.off_cpu for one in functions])
    return seconds[function] if seconds.any() else np.empty(0)


def _draw(kind: str, mean: Floats, deviation: Floats, function: Ints, random: np.random.Generator) -> Floats:
    count = len(function)
    if kind == "exponential":
        draws = random.standard_exponential(count)
        draws *= mean[function]
        return draws
    if kind == "lognormal":
        # mean m and coefficient of variation c: sigma² = ln(1 + c²), median m·exp(-sigma²/2)
        sigma = np.sqrt(np.log1p(deviation**2))
        draws = random.standard_normal(count)
        draws *= sigma[function]
        np.exp(draws, out=draws)
        draws *= (mean * np.exp(-(sigma**2) / 2))[function]
        return draws
    if kind == "uniform":
        half = np.sqrt(3.0) * deviation  # of a uniform on 1 ± half, half/√3 is the deviation
        return np.asarray(mean[function] * (1 + half[function] * random.uniform(-1, 1, count)))
    return mean[function]
