"""The three pieces of work on which simulators are timed, drawn once and shared by every peer.

The system, the same in all three: hosts of 4 cores and 16,384 MB; containers of 256 MB; execution
exponential with mean 0.3 s; a cold start is a delay of 0.5 s that uses no core; a new container goes to a
random host with room for it; one last-in-first-out pool of warm containers per function over all hosts;
first in, first out for a core of the host; an idle container goes after its keep-alive.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

CORES = 4
HOST_MEMORY_MB = 16_384
CONTAINER_MEMORY_MB = 256
CONTAINERS_PER_HOST = HOST_MEMORY_MB // CONTAINER_MEMORY_MB
MEAN_SERVICE_S = 0.3
COLD_START_S = 0.5
CALLS = 100_000


class Result(NamedTuple):
    """What every peer returns; two peers on the same inputs agree in every bit of it."""

    cold_starts: int
    mean_response_s: float
    completed: int


@dataclass(frozen=True)
class Work:
    """One piece of work: how many functions call how often, and where they run."""

    name: str
    functions: int
    calls_per_function_s: float
    hosts: int
    keep_alive_s: float

    @property
    def rate(self) -> float:
        """Calls per second, all functions together."""
        return self.functions * self.calls_per_function_s


WORKS: dict[str, Work] = {
    "a": Work("a", functions=10, calls_per_function_s=5.0, hosts=10, keep_alive_s=600.0),
    "b": Work("b", functions=200, calls_per_function_s=0.25, hosts=50, keep_alive_s=5.0),
    "c": Work("c", functions=1_000, calls_per_function_s=0.5, hosts=1_000, keep_alive_s=600.0),
}
"""a: nearly all warm; b: a third of all calls cold; c: many hosts."""


@dataclass(frozen=True)
class Inputs:
    """One draw of a work as plain Python lists, which a plain-Python model reads fastest."""

    work: Work
    gaps: list[float]
    """Seconds from the call before; SimPy's clock adds these one by one."""
    arrivals: list[float]
    """The running sum of ``gaps``, added in the same order, so that clocks agree in every bit."""
    functions: list[int]
    services: list[float]
    choices: list[float]
    """Uniform on [0, 1), the i-th for the i-th cold start: which host gets the new container."""


def draw(work: Work, calls: int = CALLS, seed: int = 1) -> Inputs:
    """Draw all that is random about a run; the superposition of Poisson streams is one Poisson stream."""
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)]
    gaps: list[float] = streams[0].exponential(1.0 / work.rate, calls).tolist()
    return Inputs(
        work=work,
        gaps=gaps,
        arrivals=list(itertools.accumulate(gaps)),
        functions=streams[1].integers(0, work.functions, calls).tolist(),
        services=streams[2].exponential(MEAN_SERVICE_S, calls).tolist(),
        choices=streams[3].random(calls).tolist(),
    )
