"""Kubernetes' NodeResourcesFit, LeastAllocated: the mean free share of CPU and memory."""

from trimtab.policies.place.decorator import place
from trimtab.policies.place.requested import cpu_share, crowding, memory_share


@place("k8s-least")
def policy(request, host):
    """(capacity − requested) · 100 / capacity, averaged over CPU and memory, the new pod included."""
    return crowding(request, host) + ((1.0 - cpu_share(request, host)) + (1.0 - memory_share(request, host))) * 50.0
