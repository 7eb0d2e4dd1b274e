"""Drain-ahead: simulate the one host's drain with mean work, and add the least total completion time."""

from trimtab.policies.place.completion import tie_break
from trimtab.policies.place.decorator import place
from trimtab.policies.place.outlook import added_time


@place("drain-ahead")
def policy(request, host, world, pools, active, functions, room):
    """Minus the completion time that the request adds, its own and the others'."""
    own, others, _ = added_time(world, host, request, functions, pools, active, room)
    return -(own + others) - tie_break(host)
