"""What a Kubernetes scheduler reckons with: requested, not used, shares of a node, the new pod included.

A request asks for its cap of cores, or for the cores that go with its memory where it has none.
"""

from __future__ import annotations

from trimtab.sim.kernel import kernel


@kernel
def cpu_of(request, host):
    """Cores that a request asks for."""
    return min(request.cap, host.vcpus * request.memory / host.memory)


@kernel
def cpu_share(request, host):
    """Share of the node's CPU that is requested: what is in flight, and this one."""
    return min((host.inflight + 1) * cpu_of(request, host) / host.vcpus, 1.0)


@kernel
def memory_share(request, host):
    """Share of the node's memory that is requested."""
    return min((host.memory - host.slots_free + request.memory) / host.memory, 1.0)


@kernel
def crowding(request, host):
    """The Filter step: nodes without room come after all others, the fullest of them last."""
    missing = request.memory - host.slots_free
    return -1e3 * (1.0 + missing / host.memory) if missing > 0.0 else 0.0
