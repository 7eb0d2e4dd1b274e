"""FaaSRank's Table I: 26 metrics of a server and of the requested function, and their normalisation.

The first 24 are a server's: they are standardised over the servers of one decision, which is what the paper's
"normalizes the state batch" says. The last two are the function's and alike on all servers, where this would
make them 0 always: they are standardised over the functions of the training scenario instead.
"""

from __future__ import annotations

import math

import numpy as np

from trimtab.policies.view import fill_by_request
from trimtab.sim.kernel import kernel, routine
from trimtab.sim.meters import sample_host
from trimtab.sim.placing import is_feasible

FEATURES = (
    "cpu_user", "cpu_nice", "cpu_kernel", "cpu_idle", "cpu_iowait", "cpu_irq", "cpu_softirq", "cpu_steal",
    "cpu_ctx_switches", "cpu_load_avg", "memory_free", "memory_buffers", "memory_cached", "disk_read",
    "disk_read_merged", "disk_read_time", "disk_write", "disk_write_merged", "disk_write_time", "net_byte_recv",
    "net_byte_sent", "avail_memory", "inflight_invocations", "warm_infrastructures", "requested_memory", "init_time",
)  # fmt: skip
"""Table I, in its order."""
OF_FUNCTION = 2
"""How many of them, at the end, are the function's."""

_COUNT, _SERVER = len(FEATURES), len(FEATURES) - OF_FUNCTION
_USER, _IDLE, _LOAD, _FREE, _DISK, _NETWORK = (
    FEATURES.index(name)
    for name in ("cpu_user", "cpu_idle", "cpu_load_avg", "memory_free", "disk_read", "net_byte_recv")
)
_MIB = 2.0**20
_LEAST = 1e-6
"""Added to a deviation: what is alike on all servers but for rounding becomes 0."""

MEAN, DEVIATION = 74, 98
"""Places in the policy's memory; before them the 26 inputs and 48 values of hidden layers."""
MEMORY = 122
"""Floats that a decision needs."""


@kernel
def fill_metrics(world, host, request, pools, memory):
    """``memory[0:26]``: what FaaSRank observes of a server, in cores, MiB, bytes a second, requests and seconds.

    A simulated host does not have the metrics that stay 0: kernel, nice, waiting, interrupt and stolen time,
    context switches, buffers and caches, merged requests and times of the disk. Bytes of an invocation count
    as read from disk, and as received.
    """
    sample_host(world, host)
    fill_by_request(world, host, request, pools)
    for index in range(_COUNT):
        memory[index] = 0.0
    memory[_USER] = host.cpu
    memory[_IDLE] = host.cores - host.cpu
    memory[_LOAD] = host.load_average
    memory[_FREE] = host.memory_free / _MIB
    memory[_DISK] = host.disk_rate
    memory[_NETWORK] = host.network_rate
    memory[_SERVER - 3] = host.slots_free / _MIB
    memory[_SERVER - 2] = host.inflight
    memory[_SERVER - 1] = host.idle if world.warm_all == 1 else host.warm
    memory[_SERVER] = request.memory / _MIB
    memory[_SERVER + 1] = request.init


@routine
def fill_spread(world, hosts, request, site, pools, memory):
    """Mean and deviation of each server metric over the feasible servers; returns how many there are.

    Sums are of differences to the first server: those of equal values are 0, not rounding errors.
    """
    count, first = 0, MEAN
    for index in range(world.hosts):
        if not is_feasible(world, hosts[index], request, site):
            continue
        fill_metrics(world, hosts[index], request, pools, memory)
        for metric in range(_SERVER):
            if count == 0:
                memory[first + metric] = memory[metric]  # the first server's, until the sums are complete
                memory[_COUNT + metric] = memory[DEVIATION + metric] = 0.0
            difference = memory[metric] - memory[first + metric]
            memory[_COUNT + metric] += difference
            memory[DEVIATION + metric] += difference * difference
        count += 1
    for metric in range(_SERVER):
        mean = memory[_COUNT + metric] / max(count, 1)
        square = memory[DEVIATION + metric] / max(count, 1)
        memory[first + metric] += mean
        memory[DEVIATION + metric] = math.sqrt(max(square - mean * mean, 0.0)) + _LEAST
    return count


@kernel
def normalise(memory, weights, start):
    """``memory[0:26]`` becomes the network's input; ``weights[start:]``: means, then deviations of the function's."""
    for metric in range(_SERVER):
        memory[metric] = (memory[metric] - memory[MEAN + metric]) / memory[DEVIATION + metric]
    for metric in range(OF_FUNCTION):
        memory[_SERVER + metric] = (memory[_SERVER + metric] - weights[start + metric]) / weights[
            start + OF_FUNCTION + metric
        ]


def normalised(metrics, function_scale):
    """The same by numpy, for rows of metrics, one a server; ``function_scale``: means, then deviations."""
    inputs = np.array(metrics, np.float64)
    servers, function = inputs[:, :_SERVER], inputs[:, _SERVER:]
    servers -= inputs[0, :_SERVER].copy()
    servers -= np.add.reduce(servers) / len(inputs)
    servers /= np.sqrt(np.add.reduce(servers * servers) / len(inputs)) + _LEAST
    function -= function_scale[:OF_FUNCTION]
    function /= function_scale[OF_FUNCTION:]
    return inputs
