"""A daily cycle with spikes on top."""

from __future__ import annotations

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import DailySpec
from trimtab.workload.assemble import assemble
from trimtab.workload.entries import choose, entry_shares, mean_work
from trimtab.workload.random_streams import stream
from trimtab.workload.spread import MOST_REQUESTS
from trimtab.workload.table import Floats, Workload


def build_daily(scenario: Scenario, spec: DailySpec, seed: int) -> Workload:
    """Poisson arrivals at the rate of :func:`daily_rate`, second by second."""
    random = stream(seed, "arrivals")
    shares = entry_shares(scenario)
    rate = daily_rate(spec) * peak_rate(spec, mean_work(scenario, shares) if spec.peak_load else 1.0)
    lengths = np.minimum(1.0, spec.duration - np.arange(len(rate)))
    if rate @ lengths > MOST_REQUESTS:
        raise TrimtabError(f"workload: {rate @ lengths:.3g} requests, must be at most {MOST_REQUESTS:,}")
    counts = random.poisson(rate * lengths)
    total = int(counts.sum())
    arrival = random.random(total)
    arrival *= np.repeat(lengths, counts)
    arrival += np.repeat(np.arange(len(rate), dtype=np.float64), counts)
    arrival.sort()
    function = choose(shares, total, random)
    return assemble(scenario, arrival, function, spec.duration, seed)


def peak_rate(spec: DailySpec, work: float) -> float:
    """Requests a second at the peak: given, or the load in Erlang over the mean work."""
    if spec.peak_rate is not None:
        return spec.peak_rate
    assert spec.peak_load is not None
    return spec.peak_load / work


def daily_rate(spec: DailySpec) -> Floats:
    """Rate in each second over its peak: a raised cosine from the trough up, and spikes.

    A spike rises at once and decays over ``spike_length``. Where spikes fall and how high they are depends
    on ``draw``, not on the seed: the rates of a workload stay.
    """
    second = np.arange(int(np.ceil(spec.duration))) + 0.5
    rate = spec.trough + (1 - spec.trough) * (1 - np.cos(2 * np.pi * second / spec.cycle)) / 2
    random = stream(spec.draw, "rates")
    for _ in range(random.poisson(spec.spikes * spec.duration / spec.cycle)):
        begin, height = random.random() * spec.duration, random.uniform(0.3, 1.0) * spec.spike_height
        since = second - begin
        if spec.spike_length > 0:
            rate += np.where(since >= 0, height * np.exp(-np.maximum(since, 0) / (spec.spike_length / 2)), 0)
    return np.asarray(rate / rate.max()) if rate.max() > 0 else rate
