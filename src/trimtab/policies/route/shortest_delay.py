"""Shortest expected delay: network, the queue as it stands, and service."""

from trimtab.policies.route.decorator import route
from trimtab.policies.route.loads import predicted_delay


@route("shortest-delay")
def policy(stream, worker):
    """Minus the predicted delay of the next query."""
    return -predicted_delay(stream, worker)
