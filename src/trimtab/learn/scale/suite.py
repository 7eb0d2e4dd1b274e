"""Load series on which ``residual`` is trained: calm and restless ones, drawn from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from trimtab.learn.scale.fluid import BIN

Floats = npt.NDArray[np.float64]

HOURS = 4
_CYCLE = 7200.0


@dataclass(frozen=True)
class Series:
    """Requests in bins, and how slowly a new instance of the service starts."""

    name: str
    counts: Floats
    start_up: float

    @cached_property
    def requests(self) -> float:
        """All of them."""
        return float(self.counts.sum())


def suite(seed: int, peak: float, start_up: float) -> list[Series]:
    """Six kinds of load that peak at ``peak`` requests a second."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(41,)))
    half = HOURS * 1800
    rates = {
        "cycle": _spikes(random, per_cycle=6.0, height=0.6)[:half],
        "spikes": _spikes(random, per_cycle=8.0, height=1.2),
        "restless": _restless(random),
        "bursty": _bursty(random),
        "flurry": _spikes(random, per_cycle=120.0, height=0.25, lasts=(20.0, 40.0)),
        "steady": np.full(half, 0.6),
    }
    return [Series(name, _binned(random, rate, peak), start_up) for name, rate in rates.items()]


def _cycle(low: float, shift: float) -> Floats:
    second = np.arange(HOURS * 3600) + 0.5
    return np.asarray(low + (1 - low) * (1 - np.cos(2 * np.pi * (second / _CYCLE + shift))) / 2)


def _spikes(
    random: np.random.Generator, per_cycle: float, height: float, lasts: tuple[float, float] = (45.0, 90.0)
) -> Floats:
    """A cycle; spikes rise at once and fall off over a minute or two."""
    rate = _cycle(0.2, random.random())
    second = np.arange(len(rate)) + 0.5
    for _ in range(random.poisson(per_cycle * len(rate) / _CYCLE)):
        since = second - random.random() * len(rate)
        high, length = random.uniform(0.3, 1.0) * height, random.uniform(*lasts)
        rate += np.where(since >= 0, high * np.exp(-np.maximum(since, 0) / length), 0)
    return rate


def _restless(random: np.random.Generator) -> Floats:
    """A rate that wanders from minute to minute, now and then by a jump: what a large web site shows."""
    minutes = HOURS * 60
    jumps = (random.random(minutes) < 0.02) * 0.3 * random.standard_normal(minutes)
    steps = 0.04 * random.standard_normal(minutes) + jumps
    level, found = 0.0, np.zeros(minutes)
    for minute in range(minutes):
        level = 0.99 * level + steps[minute]
        found[minute] = level
    return np.asarray(_cycle(0.4, random.random()) * np.repeat(np.exp(found), 60))


def _bursty(random: np.random.Generator) -> Floats:
    """Few clients seen through a magnifying glass: counts of 40 to 100 a minute make a rate with their noise."""
    mean = 100.0 * _cycle(0.4, random.random())[::60]
    return np.repeat(random.poisson(mean).astype(np.float64), 60)


def _binned(random: np.random.Generator, rate: Floats, peak: float) -> Floats:
    each = round(1.0 / BIN)
    scaled = rate * (peak / float(np.quantile(rate, 0.999)))
    return random.poisson(np.repeat(scaled, each) * BIN).astype(np.float64)
