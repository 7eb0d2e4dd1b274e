"""Farthest: the cluster with the highest still feasible network delay, argmax (d + 2 sigma)."""

from trimtab.policies.route.decorator import route


@route("farthest")
def policy(stream, worker):
    """Farther is better: small clusters at the edge are kept for those who need them."""
    return worker.distance
