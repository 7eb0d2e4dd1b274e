"""Relative load balancing: the feasible worker with the least load over capacity, L / C."""

from trimtab.policies.route.decorator import route
from trimtab.policies.route.loads import relative_load


@route("relative-load")
def policy(stream, worker):
    """Relatively freer is better."""
    return -relative_load(worker)
