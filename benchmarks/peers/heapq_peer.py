"""A plain-Python model of the system in ``work.py``: one heap of events, tuples and lists, no classes.

It is written to be as fast as plain Python gets while still playing every event: arrivals are sorted already
and never enter the heap; a container is a (expiry, host) pair in its function's pool; a pool is a list used
from its end; an expired container is noticed when somebody looks at it, not by an event of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from math import inf

from benchmarks.peers.work import COLD_START_S, CONTAINERS_PER_HOST, CORES, Inputs, Result

Pool = list[tuple[float, int]]
"""Idle containers of one function as (time of expiry, host), the one used last at the end."""


def run(inputs: Inputs) -> Result:
    """Simulate every call to its end."""
    arrivals, functions, services = inputs.arrivals, inputs.functions, inputs.services
    keep_alive, host_count = inputs.work.keep_alive_s, inputs.work.hosts
    pools: list[Pool] = [[] for _ in range(inputs.work.functions)]
    free_cores = [CORES] * host_count
    queues: list[deque[int]] = [deque() for _ in range(host_count)]
    # never less than the containers on a host: some may have expired unnoticed
    containers = [0] * host_count
    events: list[tuple[float, int, int, bool]] = []  # (time, call, host, the call has ended)
    choices = iter(inputs.choices)
    push, pop = heappush, heappop
    cold_starts = completed = 0
    total_response = 0.0

    call = -1
    # the last round, at infinity, plays what is still in the heap
    for now in (*arrivals, inf):
        while events and events[0][0] <= now:
            time, other, host, ended = pop(events)
            if ended:
                total_response += time - arrivals[other]
                completed += 1
                pools[functions[other]].append((time + keep_alive, host))
                queue = queues[host]
                if queue:
                    other = queue.popleft()
                    push(events, (time + services[other], other, host, True))
                else:
                    free_cores[host] += 1
            elif free_cores[host]:
                free_cores[host] -= 1
                push(events, (time + services[other], other, host, True))
            else:
                queues[host].append(other)
        if now == inf:
            break

        call += 1
        pool = pools[functions[call]]
        if pool:
            expiry, host = pool.pop()
            if expiry > now:
                if free_cores[host]:
                    free_cores[host] -= 1
                    push(events, (now + services[call], call, host, True))
                else:
                    queues[host].append(call)
                continue
            # the youngest has expired, and so have all below it
            containers[host] -= 1
            for _, host in pool:
                containers[host] -= 1
            pool.clear()

        cold_starts += 1
        host = int(next(choices) * host_count)
        if containers[host] == CONTAINERS_PER_HOST:
            host = choose_host(inputs.choices[cold_starts - 1], pools, containers, now)
        containers[host] += 1
        push(events, (now + COLD_START_S, call, host, False))

    return Result(cold_starts, total_response / len(arrivals), completed)


def choose_host(uniform: float, pools: Iterable[Pool], containers: list[int], now: float) -> int:
    """A random host with room for one more container.

    Where the first host drawn is full, the fraction of the draw, which is uniform as well, picks one of those
    with room: each of them is equally likely.
    """
    point = uniform * len(containers)
    host = int(point)
    if containers[host] < CONTAINERS_PER_HOST:
        return host
    _forget_expired(pools, containers, now)
    if containers[host] < CONTAINERS_PER_HOST:
        return host
    room = [other for other, count in enumerate(containers) if count < CONTAINERS_PER_HOST]
    if not room:
        raise RuntimeError("no host has room for a container; the work is too large for its hosts")
    return room[int((point - host) * len(room))]


def _forget_expired(pools: Iterable[Pool], containers: list[int], now: float) -> None:
    """Take the expired containers off all pools, so that ``containers`` is exact."""
    for pool in pools:
        expired = 0
        while expired < len(pool) and pool[expired][0] <= now:
            containers[pool[expired][1]] -= 1
            expired += 1
        del pool[:expired]
