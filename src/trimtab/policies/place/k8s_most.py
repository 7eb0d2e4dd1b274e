"""Kubernetes' NodeResourcesFit, MostAllocated: the mean used share of CPU and memory."""

from trimtab.policies.place.decorator import place
from trimtab.policies.place.requested import cpu_share, crowding, memory_share


@place("k8s-most")
def policy(request, host):
    """requested · 100 / capacity, averaged over CPU and memory; a resource over its capacity counts 0."""
    cpu, memory = cpu_share(request, host), memory_share(request, host)
    return crowding(request, host) + ((cpu if cpu < 1.0 else 0.0) + (memory if memory < 1.0 else 0.0)) * 50.0
