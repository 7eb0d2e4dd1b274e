"""Power of two choices: the relatively less loaded of two feasible workers drawn at random."""

from trimtab.policies.route.decorator import route
from trimtab.policies.route.loads import draw, relative_load


@route("power-of-two")
def policy(stream, workers, random):
    """Draw two feasible workers, take the one with the lower load over capacity."""
    first, second = draw(workers, random), draw(workers, random)
    if first >= 0 and relative_load(workers[second]) < relative_load(workers[first]):
        return second
    return first
