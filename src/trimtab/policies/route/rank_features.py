"""What ``rank`` knows of a stream and a worker: a dozen numbers of the order of one."""

from __future__ import annotations

import math

from trimtab.policies.route.loads import capacity, predicted_delay
from trimtab.policies.route.outlook import (
    DEMAND,
    MEAN_LOAD,
    STATE,
    THROUGHPUT,
    TIGHT,
    TIGHT_DEMAND,
    service,
    tightness,
)
from trimtab.sim.kernel import kernel, routine

FEATURES = (
    "load",
    "overrun",
    "success",
    "tightness",
    "late",
    "demand",
    "demand-load",
    "tight-demand",
    "scarcity",
    "accuracy-surplus",
    "batch",
    "distance",
)
"""In the order in which ``fill`` writes them."""
WIDTH = STATE + len(FEATURES)
"""Places of a row of the policy's memory."""

_TIGHT, _DEMAND, _TIGHT_DEMAND, _THROUGHPUT, _MEAN_LOAD = TIGHT, DEMAND, TIGHT_DEMAND, THROUGHPUT, MEAN_LOAD
_STATE = STATE
_MOST = 1e9


@kernel
def overrun(load, alone, slack):
    """Chance that a query waits longer than its slack: ρ·exp(−2(1 − ρ)s / (ρS)), a queue with constant service S.

    Worked example: at half the load with a slack of one service, 0.5·exp(−2) = 0.0677.
    """
    if load >= 1.0 or alone <= 0.0:
        return min(load, 1.0)
    return load * math.exp(-2.0 * (1.0 - load) * slack / (load * alone)) if load > 0.0 else 0.0


@kernel
def success(worker, memory, row, alone, tight):
    """Share of the stream's queries that would be in time, less the harm to the tight ones that are there.

    A query that meets another in service is late with a chance of its tightness t, so 1 − B·t are in time, where B
    is the share of time that the worker is busy. A query that is served makes others late: one in T, the Erlangs
    of those that cannot wait. Both count what is served as seen of late, not what is offered: streams that
    collide, collide again and again, and leave more time free than their load tells.
    """
    answered = 1.0
    if memory[row + _MEAN_LOAD] > 0.0:
        answered = min(memory[row + _THROUGHPUT] / memory[row + _MEAN_LOAD], 1.0)
    busy = min(worker.load * alone * answered, 1.0)
    return (1.0 - busy * tight) * (1.0 - min(memory[row + _TIGHT] * alone * answered, 1.0))


@routine
def fill(stream, worker, memory, row):
    """Write the features of a stream on a worker behind the state of the worker's row."""
    room, up = min(capacity(worker), _MOST), max(worker.ready + worker.starting, 1)
    alone = service(worker)
    tight = tightness(stream, worker)
    slack = max(stream.deadline - worker.network - alone, 0.0)
    after = (worker.load + stream.rate) / room
    demand = memory[row + _DEMAND] / room
    first = row + _STATE
    memory[first] = after
    memory[first + 1] = overrun(after, alone / up, slack)
    memory[first + 2] = success(worker, memory, row, alone / up, tight)
    memory[first + 3] = tight
    memory[first + 4] = 1.0 if predicted_delay(stream, worker) > stream.deadline else 0.0
    memory[first + 5] = demand
    memory[first + 6] = demand * after
    memory[first + 7] = memory[row + _TIGHT_DEMAND] * alone / up
    memory[first + 8] = worker.scarcity
    memory[first + 9] = (worker.accuracy - stream.accuracy) / 100.0
    memory[first + 10] = math.log(max(worker.batch, 1)) / 2.0
    memory[first + 11] = worker.distance / stream.deadline
