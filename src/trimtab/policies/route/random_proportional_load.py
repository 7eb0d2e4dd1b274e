"""Random-proportional load: probability in proportion to C_v / L."""

from trimtab.policies.route.decorator import route

_LEAST_LOAD = 1.0


@route("random-proportional-load", proportional=True)
def policy(stream, worker):
    """Freer is likelier; the ratio is singular at no load, so a load below one query a second counts as one."""
    return worker.capacity / max(worker.load, _LEAST_LOAD)
