"""Random-proportional latency: probability in proportion to 1 / (2(d + 2 sigma) + D_v)."""

from trimtab.policies.route.decorator import route


@route("random-proportional-latency", proportional=True)
def policy(stream, worker):
    """Faster is likelier."""
    return 1.0 / (2.0 * worker.distance + worker.delay)
