"""Drain-ahead: simulate the one host's drain with mean work, and add the least total completion time."""

from trimtab.policies.place.completion import added_time, tie_break
from trimtab.policies.place.decorator import place


@place("drain-ahead")
def policy(request, host, running_and_new):
    """Minus the completion time that the request adds, its own and the others'.

    A cold start makes the request itself wait for its container, and everybody for the initialisation.
    """
    wait = request.create if host.warm == 0 else 0.0
    return -(added_time(request, host, running_and_new) + wait) - tie_break(host)
