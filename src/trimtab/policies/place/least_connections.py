"""Least connections: the host with the fewest requests in flight."""

from trimtab.policies.place.decorator import place


@place("least-connections")
def policy(request, host):
    """Fewer is better."""
    return -host.inflight
