"""How many calls per second of wall-clock time a peer simulates."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.peers import heapq_peer, simpy_peer
from benchmarks.peers.work import Inputs, Result

PEERS: dict[str, Callable[[Inputs], Result]] = {"heapq": heapq_peer.run, "simpy": simpy_peer.run}


@dataclass(frozen=True)
class Measurement:
    """What a peer answered, and its median speed."""

    result: Result
    calls_per_s: float


def measure(peer: str, inputs: Inputs, repeats: int = 3) -> Measurement:
    """Run a peer ``repeats`` times; the garbage collector is off while the clock runs, as in ``timeit``."""
    seconds = []
    enabled = gc.isenabled()
    for _ in range(repeats):
        gc.collect()
        gc.disable()
        try:
            begin = time.perf_counter()
            result = PEERS[peer](inputs)
            seconds.append(time.perf_counter() - begin)
        finally:
            if enabled:
                gc.enable()
    return Measurement(result, len(inputs.arrivals) / statistics.median(seconds))
