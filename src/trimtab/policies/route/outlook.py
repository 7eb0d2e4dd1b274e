"""What ``rank`` remembers of each worker between decisions: who is there, who might come, how it has fared.

A worker has a row in the policy's memory. The load of a row is the one of the last look, so streams that have
ended since show as a difference. Demand is what would be on the workers if every stream of the last minutes
spread over all that suit it, more to those that fewer others want: a stream leaves nothing to guess but its
length, and streams that were rejected count like the others.
"""

from __future__ import annotations

import math

from trimtab.policies.route.loads import capacity
from trimtab.sim.kernel import kernel, routine

FIRST = 1
"""Where rows begin; before them is the time of the last look."""
TIGHT, LOAD, DEMAND, TIGHT_DEMAND, ANSWERED, THROUGHPUT, MEAN_LOAD, SHARE, SCORE = range(9)
STATE = 9
"""Places of a row that are state, the last score included; its features follow."""

_TIGHT, _LOAD, _DEMAND, _TIGHT_DEMAND, _ANSWERED = TIGHT, LOAD, DEMAND, TIGHT_DEMAND, ANSWERED
_THROUGHPUT, _MEAN_LOAD, _SHARE = THROUGHPUT, MEAN_LOAD, SHARE
_LIFE = 80.0
"""Seconds over which demand is remembered: of the order of a stream's life."""
_SEEN = 5.0
"""Seconds over which throughput is averaged: some queries of every stream."""
_AVERSION = 4.0
"""How much a stream, in the mind, avoids workers that others want."""
_MOST = 1e9
"""Queries a second of a worker that takes no time."""


@kernel
def suits(stream, worker):
    """Whether a worker that is free could serve the stream: task, accuracy, delay."""
    return (
        worker.task == stream.task
        and worker.accuracy >= stream.accuracy
        and worker.network + worker.delay <= stream.deadline
    )


@kernel
def service(worker):
    """Seconds of a query that is served alone."""
    return worker.base + worker.each if worker.batch > 0 else worker.delay


@kernel
def tightness(stream, worker):
    """Chance that a query is late if it meets another in service: 1 where it cannot wait, 0 where it can wait that out.

    What is left of a service is anything from nothing to all of it, so with slack s and service S: 1 − s/S.
    """
    alone = service(worker)
    slack = stream.deadline - worker.network - alone
    return min(max(1.0 - slack / alone, 0.0), 1.0) if alone > 0.0 else 0.0


@routine
def look(stream, workers, memory, width):
    """A stream arrives: bring every row up to date, and add the stream to the demand."""
    passed = max(stream.arrival - memory[0], 0.0)
    memory[0] = stream.arrival
    kept, recent = math.exp(-passed / _LIFE), math.exp(-passed / _SEEN)
    total = 0.0
    for index in range(len(workers)):
        worker, row = workers[index], FIRST + width * index
        if passed > 0.0:
            answered = float(worker.completions)
            rate = (answered - memory[row + _ANSWERED]) / passed
            memory[row + _THROUGHPUT] = recent * memory[row + _THROUGHPUT] + (1.0 - recent) * rate
            memory[row + _MEAN_LOAD] = recent * memory[row + _MEAN_LOAD] + (1.0 - recent) * memory[row + _LOAD]
            memory[row + _ANSWERED] = answered
        if worker.load < memory[row + _LOAD]:  # streams have ended: in proportion, tight ones too
            memory[row + _TIGHT] *= worker.load / memory[row + _LOAD]
        memory[row + _LOAD] = worker.load
        memory[row + _DEMAND] *= kept
        memory[row + _TIGHT_DEMAND] *= kept
        memory[row + _SHARE] = 0.0
        if suits(stream, worker):
            room = min(capacity(worker), _MOST)
            memory[row + _SHARE] = room / (1.0 + memory[row + _DEMAND] / room) ** _AVERSION
            total += memory[row + _SHARE]
    if total > 0.0:
        spread(stream, workers, memory, width, total)


@kernel
def spread(stream, workers, memory, width, total):
    """Add a stream to the demand of the workers that suit it."""
    for index in range(len(workers)):
        row = FIRST + width * index
        part = stream.rate * memory[row + _SHARE] / total
        memory[row + _DEMAND] += part
        memory[row + _TIGHT_DEMAND] += part * tightness(stream, workers[index])


@kernel
def note(stream, worker, memory, row):
    """The stream goes to this worker."""
    memory[row + _TIGHT] += stream.rate * tightness(stream, worker)
    memory[row + _LOAD] += stream.rate
