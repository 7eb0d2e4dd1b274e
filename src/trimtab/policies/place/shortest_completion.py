"""Shortest expected completion: mean work at the current sharing rate, and the start if it is cold."""

from trimtab.policies.place.completion import cold_seconds, shared_rate, tie_break
from trimtab.policies.place.decorator import place


@place("shortest-completion")
def policy(request, host, running):
    """Minus the seconds until the request would be done if nothing else changed.

    On a host without room it waits for one of those before it to end.
    """
    seconds = request.work / shared_rate(request, host, running)
    wait = 0.0
    if host.warm == 0 and host.memory_used - host.memory_idle + request.memory > host.memory:
        wait = (1 + host.queued) * seconds
    return -(seconds + cold_seconds(request, host) + wait) - tie_break(host)
