"""Outside: a routing that is decided by whoever drives the run, from what is visible to a policy.

It works as the placement of that name does: ``memory`` holds the answer, the mask, then the features, one row
a worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba

from trimtab.policies.place.outside import LIMIT, OFFSET
from trimtab.sim.cache import activate
from trimtab.sim.contract import ROUTE
from trimtab.sim.records import ASK

WORKER_FEATURES = (
    "site", "task", "accuracy", "load", "capacity", "streams", "ready", "starting", "inflight", "queued", "batch",
    "base", "each", "delay", "network", "distance", "wait", "scarcity",
)  # fmt: skip
STREAM_FEATURES = ("application", "source", "task", "rate", "deadline", "accuracy", "size", "bandwidth", "access")
FEATURES = tuple(f"worker.{name}" for name in WORKER_FEATURES) + tuple(f"stream.{name}" for name in STREAM_FEATURES)
"""Columns of a row, in order. Bytes are MB, and ``worker.capacity`` is that of one instance."""

_COUNT, _MB, _ASK, _LIMIT, _OFFSET = len(FEATURES), 1e-6, ASK, LIMIT, OFFSET
_CACHED = activate(__name__).is_dir()


@numba.njit(nogil=True, error_model="numpy")
def write_row(worker, stream, row):
    """The features of one worker for one stream; order as in FEATURES."""
    row[0], row[1], row[2], row[3] = worker.site, worker.task, worker.accuracy, worker.load
    row[4], row[5], row[6], row[7] = worker.capacity, worker.streams, worker.ready, worker.starting
    row[8], row[9], row[10] = worker.inflight, worker.queued, worker.batch
    row[11], row[12], row[13] = worker.base, worker.each, worker.delay
    row[14], row[15], row[16], row[17] = worker.network, worker.distance, worker.wait, worker.scarcity
    row[18], row[19], row[20], row[21] = stream.application, stream.source, stream.task, stream.rate
    row[22], row[23], row[24] = stream.deadline, stream.accuracy, stream.size * _MB
    row[25], row[26] = stream.bandwidth * _MB, stream.access
    for index in range(_COUNT):
        row[index] = min(max(row[index], -_LIMIT), _LIMIT)


@numba.cfunc(ROUTE, nogil=True, error_model="numpy", cache=_CACHED)
def decide(world_, streams, index, workers, memory, weights, random, scores):
    """The answer if there is one; a stream that no worker suits is not asked about, it is rejected."""
    if memory[0] != 0.0:
        choice = int(memory[0]) - _OFFSET
        memory[0] = 0.0
        return choice
    most = (len(memory) - 1) // (_COUNT + 1)
    stream = streams[index]
    feasible = 0
    for candidate in range(min(world_[0].functions, most)):
        worker = workers[candidate]
        feasible += worker.feasible
        memory[1 + candidate] = worker.feasible
        start = 1 + most + candidate * _COUNT
        write_row(worker, stream, memory[start : start + _COUNT])
    return _ASK if feasible > 0 else -1


@dataclass(frozen=True)
class Outside:
    """What the engine needs of a routing policy; ``workers`` is how many rows there is room for."""

    workers: int
    drops_late: bool = False
    name: str = "outside"
    decision: str = "route"
    weights: tuple[float, ...] = ()
    compiled: Any = decide

    @property
    def memory(self) -> int:
        """Length of its memory."""
        return 1 + self.workers * (1 + _COUNT)
