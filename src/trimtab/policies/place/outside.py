"""Outside: a placement that is decided by whoever drives the run, from what is visible to a policy.

When it is asked it writes what it sees to its memory and answers ASK; the engine returns, the answer is put
into ``memory[0]``, and the engine asks again. ``memory`` holds the answer, the mask, then the features:
one row a host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba

from trimtab.policies.view import fill_by_request
from trimtab.sim.cache import activate
from trimtab.sim.contract import PLACE
from trimtab.sim.meters import sample_host
from trimtab.sim.placing import is_feasible
from trimtab.sim.records import ASK, NONE

HOST_FEATURES = (
    "cores", "vcpus", "speed", "memory", "price", "site", "inflight", "running", "queued", "starting", "busy", "idle",
    "memory_used", "memory_idle", "memory_free", "slots_free", "warm", "busy_same", "starting_same", "would_evict",
    "cpu", "load_average", "disk_rate", "network_rate",
)  # fmt: skip
REQUEST_FEATURES = ("function", "source", "work", "off_cpu", "create", "init", "memory", "cap", "deadline")
FEATURES = tuple(f"host.{name}" for name in HOST_FEATURES) + tuple(f"request.{name}" for name in REQUEST_FEATURES)
"""Columns of a row, in order. Bytes are GiB; ``request.deadline`` is seconds from now, 0 without one;
``request.cap`` is at most the cores of the host."""
LIMIT = 1e6
"""No feature is larger than this, or smaller than minus this."""
NO_ANSWER = 0.0
OFFSET = 2
"""``memory[0]`` holds the answer plus this: -1 (reject) is 1, host 0 is 2."""

_COUNT, _GIB, _NONE, _ASK, _LIMIT, _OFFSET = len(FEATURES), 2.0**-30, NONE, ASK, LIMIT, OFFSET
_CACHED = activate(__name__).is_dir()


@numba.njit(nogil=True, error_model="numpy")
def write_row(world, host, request, function, row):
    """The features of one host for one request; order as in FEATURES."""
    row[0], row[1], row[2], row[3] = host.cores, host.vcpus, host.speed, host.memory * _GIB
    row[4], row[5], row[6], row[7] = host.price, host.site, host.inflight, host.running
    row[8], row[9], row[10], row[11] = host.queued, host.starting, host.busy, host.idle
    row[12], row[13] = host.memory_used * _GIB, host.memory_idle * _GIB
    row[14], row[15] = host.memory_free * _GIB, host.slots_free * _GIB
    row[16], row[17], row[18] = host.warm, host.busy_same, host.starting_same
    row[19], row[20], row[21] = host.would_evict * _GIB, host.cpu, host.load_average
    row[22], row[23] = host.disk_rate * _GIB, host.network_rate * _GIB
    row[24], row[25], row[26], row[27] = request.function, request.source, request.work, function.off_cpu
    row[28], row[29], row[30] = request.create, request.init, request.memory * _GIB
    row[31] = min(request.cap, host.cores)
    left = request.deadline - world.now
    row[32] = left if left < _LIMIT else 0.0
    for index in range(_COUNT):
        row[index] = min(max(row[index], -_LIMIT), _LIMIT)


@numba.cfunc(PLACE, nogil=True, error_model="numpy", cache=_CACHED)
def decide(world_, active, slot, hosts, functions, pools, dirty, memory, weights, random, scores, tree, running):
    """The answer if there is one; a start that no request waits for, and a request for no host, are not asked."""
    world = world_[0]
    request = active[slot]
    function = functions[request.function]
    if memory[0] != 0.0 and request.id != _NONE:
        choice = int(memory[0]) - _OFFSET
        memory[0] = 0.0
        return choice
    most = (len(memory) - 1) // (_COUNT + 1)
    first = -1
    for index in range(min(world.hosts, most)):
        host = hosts[index]
        feasible = is_feasible(world, host, request, function.site)
        if feasible and first == -1:
            first = index
        memory[1 + index] = 1.0 if feasible else 0.0
        fill_by_request(world, host, request, pools)
        sample_host(world, host)
        start = 1 + most + index * _COUNT
        write_row(world, host, request, function, memory[start : start + _COUNT])
    return _ASK if first != -1 and request.id != _NONE else first


@dataclass(frozen=True)
class Outside:
    """What the engine needs of a placement policy; ``hosts`` is how many rows there is room for."""

    hosts: int
    name: str = "outside"
    decision: str = "place"
    weights: tuple[float, ...] = ()
    needs_samples: bool = True
    needs_pools: bool = True
    compiled: Any = decide

    @property
    def memory(self) -> int:
        """Length of its memory."""
        return 1 + self.hosts * (1 + _COUNT)
