"""The stochastic actor inside the engine: samples a server from the softmax (equation 4) and keeps what it saw."""

from __future__ import annotations

import math

from trimtab.policies.place.decorator import NOT_A_NUMBER, place
from trimtab.policies.place.faasrank import score_of
from trimtab.policies.place.metrics import FEATURES, MEMORY, fill_spread
from trimtab.sim.draw import uniform
from trimtab.sim.kernel import kernel, routine
from trimtab.sim.placing import is_feasible

_NOT_A_NUMBER, _WIDE = NOT_A_NUMBER, len(FEATURES)
COUNT, FULL, START = MEMORY, MEMORY + 1, MEMORY + 2
"""In the policy's memory: decisions so far, whether there was no room for one, and where scores begin."""
CHOICE, LOG_PROBABILITY, TIME, INFLIGHT, HEAD = 0, 1, 2, 3, 4
"""In a decision's row: the server, the logarithm of its probability, when, request-seconds in flight until then.

Behind them, for each server: 1 if it was feasible, then its 26 inputs."""
SERVER = 1 + _WIDE
_MOST_NEGATIVE = -math.inf


@kernel
def row_length(hosts):
    """Floats of one decision."""
    return HEAD + hosts * SERVER


@routine
def keep_inputs(memory, row, host, feasible):
    """Copy a server's inputs to the row of this decision."""
    place = row + HEAD + host * SERVER
    memory[place] = 1.0 if feasible else 0.0
    for index in range(_WIDE):
        memory[place + 1 + index] = memory[index] if feasible else 0.0


@routine
def sample(memory, hosts, highest, random):
    """A server drawn from the softmax of the scores; its log-probability goes to ``memory[START - 1]``."""
    total = 0.0
    for index in range(hosts):
        total += math.exp(memory[START + index] - highest)
    left = uniform(random) * total
    choice = -1
    for index in range(hosts):
        if memory[START + index] == _MOST_NEGATIVE:
            continue
        choice = index
        left -= math.exp(memory[START + index] - highest)
        if left < 0.0:
            break
    return choice, memory[START + choice] - highest - math.log(total)


@place("faasrank-recorded", samples=True)
def recorder(request, hosts, memory, weights, random, world, site, pools):
    """Sample a server; all that learning needs goes to ``memory``."""
    count = world.hosts
    row = START + count + int(memory[COUNT]) * row_length(count)
    if row + row_length(count) > len(memory):
        memory[FULL] = 1.0
        return -1
    feasible = fill_spread(world, hosts, request, site, pools, memory)
    if feasible == 0:
        return -1
    highest = _MOST_NEGATIVE
    for index in range(count):
        memory[START + index] = _MOST_NEGATIVE
        usable = is_feasible(world, hosts[index], request, site)
        if usable:
            score = score_of(world, hosts[index], request, pools, memory, weights)
            if not math.isfinite(score):
                return _NOT_A_NUMBER - index
            memory[START + index] = score
            highest = max(highest, score)
        keep_inputs(memory, row, index, usable)
    choice, log_probability = sample(memory, count, highest, random)
    memory[row + CHOICE] = choice
    memory[row + LOG_PROBABILITY] = log_probability
    memory[row + TIME] = world.now
    memory[row + INFLIGHT] = world.inflight_seconds + world.inflight * (world.now - world.metered)
    memory[COUNT] += 1.0
    return choice
