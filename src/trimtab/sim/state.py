"""The arrays of one run, bundled by who touches them.

Kernels pass bundles by value, and every array in one costs seven machine words a call: the core bundle
holds only what nearly every event touches, the columns go no deeper than the engine's own loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[np.void]


class Core(NamedTuple):
    """What every event may touch."""

    world: Records
    hosts: Records
    instances: Records
    functions: Records
    pools: Records
    active: Records
    heap: Records
    timers: Records
    """Expiries of idle instances."""
    results: Records
    dirty: npt.NDArray[np.int32]
    """Hosts whose score has to be computed again."""
    latency: npt.NDArray[np.int64]
    """Latency histogram by function, for the control loop; flattened."""


class Columns(NamedTuple):
    """Inputs by request and stream, and the series that are recorded."""

    arrival: npt.NDArray[np.float64]
    function: npt.NDArray[np.int32]
    work: npt.NDArray[np.float64]
    off_cpu: npt.NDArray[np.float64]
    stream: npt.NDArray[np.int32]
    noise: npt.NDArray[np.float64]
    streams: Records
    links: Records
    faults: Records
    series: npt.NDArray[np.float64]
    rows: npt.NDArray[np.float32]
    idle_times: npt.NDArray[np.int32]
    """Hybrid keep-alive: histogram of idle times by function; flattened."""


class Mind(NamedTuple):
    """What belongs to a placement or routing policy."""

    memory: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]
    random: npt.NDArray[np.uint64]
    scores: npt.NDArray[np.float64]
    tree: npt.NDArray[np.int32]
    running: Records
