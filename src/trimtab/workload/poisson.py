"""Independent Poisson arrivals: the reference that queueing theory speaks about."""

from __future__ import annotations

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import PoissonSpec
from trimtab.workload.assemble import assemble
from trimtab.workload.entries import choose, entry_shares
from trimtab.workload.random_streams import stream
from trimtab.workload.spread import MOST_REQUESTS
from trimtab.workload.table import Floats, Workload


def build_poisson(scenario: Scenario, spec: PoissonSpec, seed: int) -> Workload:
    """Poisson arrivals for a duration, or until so many requests."""
    random = stream(seed, "arrivals")
    arrival, duration = _arrivals(spec, random)
    function = choose(entry_shares(scenario, spec.shares), len(arrival), random)
    return assemble(scenario, arrival, function, duration, seed)


def _arrivals(spec: PoissonSpec, random: np.random.Generator) -> tuple[Floats, float]:
    if spec.requests is not None:
        if spec.rate <= 0:
            raise TrimtabError(f"workload.rate = {spec.rate}, must be above 0")
        arrival = random.standard_exponential(spec.requests)
        np.cumsum(arrival, out=arrival)
        arrival /= spec.rate
        return arrival, float(arrival[-1])
    assert spec.duration is not None
    expected = spec.rate * spec.duration
    if expected > MOST_REQUESTS:
        raise TrimtabError(f"workload.rate x duration = {expected:.3g}, must be at most {MOST_REQUESTS:,}")
    arrival = random.random(random.poisson(expected))
    arrival.sort()
    arrival *= spec.duration
    return arrival, spec.duration
