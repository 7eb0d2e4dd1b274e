"""Scarcity: among workers predicted to meet the deadline, the one that the least demand could use."""

from trimtab.policies.route.decorator import route
from trimtab.policies.route.loads import predicted_delay, relative_load


@route("scarcity")
def policy(stream, worker):
    """Workers that would be late come last; then the smallest share of demand wins, then the load.

    A worker that few streams could use is of little use to others, so a stream that can use it should.
    """
    late = predicted_delay(stream, worker) > stream.deadline
    return (-10.0 if late else 0.0) - worker.scarcity - 0.1 * relative_load(worker)
