"""The one columnar format in which every workload reaches the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def _empty_floats() -> Floats:
    return np.empty(0, np.float64)


def _empty_ints() -> Ints:
    return np.empty(0, np.int32)


@dataclass(frozen=True)
class Streams:
    """Streams of queries, in order of arrival; a query names its stream in ``Workload.stream``."""

    arrival: Floats
    duration: Floats
    """Seconds from the stream's first query to its end."""
    application: Ints
    """Index into ``Workload.functions``."""
    source: Ints
    """Which scheduler (antenna) the stream arrives at."""
    rate: Floats
    """Queries per second, rho."""
    deadline: Floats
    """Largest tolerated end-to-end delay in seconds, D."""
    accuracy: Floats
    """Smallest tolerated accuracy, A."""
    size: Floats
    """Bytes of one query, zeta."""
    bandwidth: Floats
    """Access bandwidth in bytes per second, b."""
    access: Floats
    """Access delay of the stream in seconds (one way), delta."""
    task: Ints
    """Index into ``Workload.tasks``."""


@dataclass(frozen=True)
class Workload:
    """Requests in order of arrival, one array a column; an absent column has length zero."""

    functions: tuple[str, ...]
    """Names that ``function`` points into (for streams: applications)."""
    arrival: Floats
    """Seconds since the start of the run, not decreasing."""
    function: Ints
    work: Floats
    """Core-seconds of warm execution on a core of speed 1.

    For streams, whose function is not known before they are routed: a factor with mean 1 on the mean work
    of the function that answers.
    """
    duration: float
    """Seconds that the arrivals cover (the run itself goes on until every request has ended)."""
    warm_up: float = 0.0
    """Requests that arrive before this time are simulated, not reported."""
    off_cpu: Floats = field(default_factory=_empty_floats)
    """Seconds spent waiting off the CPU during execution."""
    stream: Ints = field(default_factory=_empty_ints)
    source: Ints = field(default_factory=_empty_ints)
    """Network source of a request that belongs to no stream."""
    streams: Streams | None = None
    tasks: tuple[str, ...] = ()
    noise: Floats = field(default_factory=_empty_floats)
    """Standard-normal draws, flattened (request, 3): uplink, downlink, service; drawn once per seed."""
    memory: Floats = field(default_factory=_empty_floats)
    """Bytes one instance of each function needs (one value a function), where the trace tells."""
    notes: tuple[str, ...] = ()
    """What a reader must know: how arrivals were spread, which gaps were cut."""
    statistics: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.arrival)
