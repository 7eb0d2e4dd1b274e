"""Kubernetes' NodeResourcesBalancedAllocation: CPU and memory used to the same share."""

from trimtab.policies.place.decorator import place
from trimtab.policies.place.requested import cpu_share, crowding, memory_share


@place("k8s-balanced")
def policy(request, host):
    """(1 − standard deviation of the shares) · 100; of two shares that is half their difference."""
    return crowding(request, host) + (1.0 - abs(cpu_share(request, host) - memory_share(request, host)) / 2.0) * 100.0
