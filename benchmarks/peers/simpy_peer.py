"""The system in ``work.py`` as one writes it in SimPy: a process a call, a resource for a host's cores.

Containers expire as in ``heapq_peer.py``, when somebody looks at them. With a timer for every idle container
this model was half as fast on work a; a peer should be as good as its library allows.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import simpy

from benchmarks.peers.heapq_peer import Pool, choose_host
from benchmarks.peers.work import COLD_START_S, CORES, Inputs, Result

Process = Generator[simpy.Event, Any, None]


class Cluster:
    """Hosts, pools of idle containers, and what was counted."""

    def __init__(self, environment: simpy.Environment, inputs: Inputs) -> None:
        self.environment = environment
        self.inputs = inputs
        self.cores = [simpy.Resource(environment, CORES) for _ in range(inputs.work.hosts)]
        self.containers = [0] * inputs.work.hosts
        self.pools: list[Pool] = [[] for _ in range(inputs.work.functions)]
        self.choices = iter(inputs.choices)
        self.cold_starts = 0
        self.completed = 0
        self.total_response = 0.0

    def arrivals(self) -> Process:
        """Start a process for every call, at its time."""
        environment = self.environment
        for function, gap, service in zip(self.inputs.functions, self.inputs.gaps, self.inputs.services):
            yield environment.timeout(gap)
            environment.process(self.invoke(function, service))

    def invoke(self, function: int, service: float) -> Process:
        """One call from its arrival to its answer."""
        environment = self.environment
        arrived = environment.now
        pool = self.pools[function]
        host = self.warm_host(pool)
        if host is None:
            self.cold_starts += 1
            host = choose_host(next(self.choices), self.pools, self.containers, arrived)
            self.containers[host] += 1
            yield environment.timeout(COLD_START_S)
        with self.cores[host].request() as core:
            yield core
            yield environment.timeout(service)
        self.completed += 1
        self.total_response += environment.now - arrived
        pool.append((environment.now + self.inputs.work.keep_alive_s, host))

    def warm_host(self, pool: Pool) -> int | None:
        """Where the container that was used last is; if that one has expired, so have all others."""
        if pool and pool[-1][0] > self.environment.now:
            return pool.pop()[1]
        for _, host in pool:
            self.containers[host] -= 1
        pool.clear()
        return None


def run(inputs: Inputs) -> Result:
    """Simulate every call to its end."""
    environment = simpy.Environment()
    cluster = Cluster(environment, inputs)
    environment.process(cluster.arrivals())
    environment.run()
    return Result(cluster.cold_starts, cluster.total_response / len(inputs.arrivals), cluster.completed)
