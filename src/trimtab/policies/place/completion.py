"""Expected completion times on one host, from mean work: shared by the rules that look ahead."""

from __future__ import annotations

from trimtab.sim.kernel import kernel

_EVICTION = 1.0
"""Seconds: what losing somebody's warm instance is reckoned at, about half a cold start."""


@kernel
def shared_rate(request, host, running):
    """Work per second that a new request would get now: its weighted share, at most its cap."""
    weight = request.weight
    for index in range(len(running)):
        weight += running[index].weight
    return min(request.cap, host.cores * request.weight / weight) * host.speed


@kernel
def cold_seconds(request, host):
    """Seconds until an instance is ready: none if one is warm."""
    if host.warm > 0:
        return 0.0
    return request.create + request.init / host.speed


@kernel
def tie_break(host):
    """Hosts that are alike in expected time are not alike: spread, and keep others' warm instances."""
    return 1e-3 * host.inflight + (_EVICTION if host.would_evict > 0.0 else 0.0)
