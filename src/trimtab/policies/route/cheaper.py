"""Cheaper: the feasible worker with the longest expected delay, argmax 2(d + 2 sigma) + D_v."""

from trimtab.policies.route.decorator import route


@route("cheaper")
def policy(stream, worker):
    """Slower is better: the fastest variants are kept for those who need them."""
    return 2.0 * worker.distance + worker.delay
