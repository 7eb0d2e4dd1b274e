"""Least impedance: the feasible worker with the shortest expected delay, argmin 2(d + 2 sigma) + D_v."""

from trimtab.policies.route.decorator import route


@route("least-impedance")
def policy(stream, worker):
    """Faster is better."""
    return -(2.0 * worker.distance + worker.delay)
