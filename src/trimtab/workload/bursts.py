"""A Markov-modulated Poisson process: each function alternates between calm and burst."""

from __future__ import annotations

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import BurstsSpec
from trimtab.workload.assemble import assemble
from trimtab.workload.entries import entry_shares
from trimtab.workload.random_streams import stream
from trimtab.workload.spread import MOST_REQUESTS
from trimtab.workload.table import Floats, Workload


def build_bursts(scenario: Scenario, spec: BurstsSpec, seed: int) -> Workload:
    """Arrivals whose rate is ``burst_factor`` times higher during a burst; the mean is ``rate``."""
    if spec.rate * spec.duration > MOST_REQUESTS:
        raise TrimtabError(f"workload.rate = {spec.rate:.3g}, makes more than {MOST_REQUESTS:,} requests")
    arrivals, functions = [], []
    for index, share in enumerate(entry_shares(scenario, spec.shares)):
        if share > 0:
            # a stream for each function: adding one leaves the arrivals of the others as they are
            arrivals.append(_one(spec, spec.rate * share, stream(seed, "arrivals", index)))
            functions.append(np.full(len(arrivals[-1]), index, np.int32))
    arrival, function = np.concatenate(arrivals), np.concatenate(functions)
    order = np.argsort(arrival, kind="stable")
    return assemble(scenario, arrival[order], function[order], spec.duration, seed)


def _one(spec: BurstsSpec, rate: float, random: np.random.Generator) -> Floats:
    in_burst = spec.burst / (spec.burst + spec.calm)
    calm_rate = rate / (1 - in_burst + in_burst * spec.burst_factor)
    edges, bursting = _phases(spec, random.random() < in_burst, random)
    rates = np.where(bursting, calm_rate * spec.burst_factor, calm_rate)
    lengths = np.diff(edges)
    counts = random.poisson(rates * lengths)
    inside = random.random(int(counts.sum()))
    return np.sort(np.repeat(edges[:-1], counts) + inside * np.repeat(lengths, counts))


def _phases(spec: BurstsSpec, burst_first: bool, random: np.random.Generator) -> tuple[Floats, np.ndarray]:
    """Edges of the phases over the run, and whether each is a burst."""
    pairs = int(spec.duration / (spec.burst + spec.calm) * 2) + 20
    edges = np.zeros(1)
    while edges[-1] < spec.duration:
        means = np.tile([spec.burst, spec.calm] if burst_first else [spec.calm, spec.burst], pairs)
        edges = np.concatenate([edges, edges[-1] + np.cumsum(random.standard_exponential(2 * pairs) * means)])
    edges = np.append(edges[edges < spec.duration], spec.duration)
    return edges, (np.arange(len(edges) - 1) % 2 == 0) == burst_first
