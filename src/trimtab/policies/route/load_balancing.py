"""Load balancing: the feasible worker with the lowest load, argmin L."""

from trimtab.policies.route.decorator import route


@route("load-balancing")
def policy(stream, worker):
    """Queries a second that are bound to the worker; fewer is better."""
    return -worker.load
