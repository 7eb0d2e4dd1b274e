"""Shortest expected completion: mean work at the current sharing rate, and the start if it is cold."""

from trimtab.policies.place.decorator import place
from trimtab.policies.place.completion import cold_seconds, shared_rate


@place("shortest-completion")
def policy(request, host, running):
    """Minus the seconds until the request would be done if nothing else changed."""
    rate = shared_rate(request, host, running)
    return -(request.work / rate + cold_seconds(request, host) + host.queued * request.work / rate)
