"""Counts per interval into arrival times: where inside the interval is a choice that has a name."""

from __future__ import annotations

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.workload import Spread
from trimtab.workload.table import Floats, Ints

MOST_REQUESTS = 200_000_000
"""More would not fit into the memory of one machine."""
CLUSTER = 8
"""clustered: mean number of calls in one cluster."""
CLUSTER_SECONDS = 0.5
"""clustered: mean distance of a call from the start of its cluster."""

DESCRIPTION: dict[Spread, str] = {
    "even": "calls of an interval evenly spaced, with a random phase",
    "poisson": "calls of an interval uniform in it (a Poisson process, given its counts)",
    "clustered": f"calls of an interval in clusters of about {CLUSTER}, {CLUSTER_SECONDS} s apart on average",
}


def spread_counts(
    function: Ints,
    interval: Ints,
    count: Ints,
    *,
    length: float,
    how: Spread,
    random: np.random.Generator,
) -> tuple[Floats, Ints]:
    """Arrival times, sorted, and their functions.

    ``count`` calls of ``function`` fall into interval number ``interval``; intervals are ``length`` seconds.
    """
    total = int(count.sum(dtype=np.int64))
    if total > MOST_REQUESTS:
        raise TrimtabError(f"requests = {total:,}, must be at most {MOST_REQUESTS:,} in one run")
    arrival = _inside(count, total, how, random, length)
    arrival += np.repeat(interval * length, count)
    order = np.argsort(arrival, kind="stable")
    functions = np.repeat(function.astype(np.int32), count)[order]
    return arrival[order], functions


def _inside(count: Ints, total: int, how: Spread, random: np.random.Generator, length: float) -> Floats:
    """Seconds from the start of its interval for each call."""
    if how == "poisson":
        return random.random(total) * length
    first = np.repeat(np.cumsum(count) - count, count)
    index = np.arange(total) - first
    if how == "even":
        phase = np.repeat(random.random(len(count)), count)
        return np.asarray((index + phase) * (length / np.repeat(count, count)))
    # every CLUSTER-th call starts a cluster; the others follow the start of theirs
    centres = random.random(total) * length
    start = first + index // CLUSTER * CLUSTER
    scatter = random.exponential(min(CLUSTER_SECONDS, length / 10), total)
    return np.asarray(np.mod(centres[start] + scatter, length))
