"""Early rejection (as Clockwork does): the shortest predicted delay, or none if it misses the deadline."""

from trimtab.policies.route.decorator import route
from trimtab.policies.route.loads import predicted_delay


@route("early-reject")
def policy(stream, workers):
    """The feasible worker with the shortest predicted delay; reject where even that is too late."""
    best, shortest = -1, stream.deadline
    for index in range(len(workers)):
        if workers[index].feasible == 1:
            delay = predicted_delay(stream, workers[index])
            if delay <= shortest:
                best, shortest = index, delay
    return best
