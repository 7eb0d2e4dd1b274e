"""Warm first: a host with an idle warm instance of the function, the least loaded among them."""

from trimtab.policies.place.decorator import place


@place("warm-first")
def policy(request, host):
    """Any warm host before any cold one; then fewer requests in flight."""
    return (1e6 if host.warm > 0 else 0.0) - host.inflight - (0.5 if host.would_evict > 0.0 else 0.0)
