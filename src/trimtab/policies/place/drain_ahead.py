"""Drain-ahead: simulate the one host's drain with mean work, and add the least total completion time."""

from trimtab.policies.place.completion import added_time
from trimtab.policies.place.decorator import place


@place("drain-ahead")
def policy(request, host, running):
    """Minus the completion time that the request adds, its own and the others'.

    A cold start adds its creation time to the request alone and its initialisation as work for the CPU; a
    full host makes it wait for the memory that the running requests hold.
    """
    init, wait = 0.0, 0.0
    if host.warm == 0:
        init = request.init
        wait = request.create
    if host.warm == 0 and host.memory_used - host.memory_idle + request.memory > host.memory:
        wait += request.work / (host.cores * host.speed)
    return -(added_time(request, host, running, init) + wait)
