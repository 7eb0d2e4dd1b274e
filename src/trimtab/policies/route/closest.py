"""Closest: any feasible variant on the cluster with the lowest network delay, argmin (d + 2 sigma)."""

from trimtab.policies.route.decorator import route


@route("closest")
def policy(stream, worker):
    """Nearer is better."""
    return -worker.distance
