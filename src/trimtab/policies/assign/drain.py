"""What a host costs until it is drained, with the risk of late tasks: shared by the assign policies that weigh costs.

A host is paid for until its last task ends, and sleeps then:

    drained = max(work / (cores x speed), longest task alone)

The work of a task is known by its mean only. With a relative deviation d of what is left, a task that needs the share
n of its cores to be in time and gets the share s is late with the probability

    chance = F(ln(n / s) / d)

where F is the logistic curve that is closest to the normal distribution: work is taken to be lognormal.
"""

from __future__ import annotations

import math

from trimtab.policies.assign.capacity import share_needed, share_with, time_alone
from trimtab.policies.assign.compiled import compiled

_STEEP = 1.702
"""The logistic curve with this slope is nowhere further than 0.01 from the normal distribution."""
_HOPELESS = 1e3
"""Needs a thousand times its cores: late for certain."""


@compiled
def chance_late(needed, share, deviation):  # type: ignore[no-untyped-def]
    """Probability that a task which needs the share ``needed`` of its cores is late with ``share``."""
    if needed <= 0.0:
        return 0.0
    return 1.0 / (1.0 + math.exp(-_STEEP * math.log(min(needed, _HOPELESS) / share) / deviation))


@compiled
def share_now(host):  # type: ignore[no-untyped-def]
    """Share that each task of the host gets as it is."""
    return 1.0 if host.demand <= host.cores else host.cores / host.demand


@compiled
def drained(host):  # type: ignore[no-untyped-def]
    """Seconds of work that the host has before it."""
    return max(host.work / (host.cores * host.speed), host.longest)


@compiled
def added_seconds(task, host):  # type: ignore[no-untyped-def]
    """Seconds that the host is paid for longer with the task, waking included."""
    power = host.cores * host.speed
    after = max((host.work + task.remaining) / power, host.longest, time_alone(task, host))
    return after - drained(host) + (0.0 if host.awake else host.wait)


@compiled
def added_risk(task, host, deviation):  # type: ignore[no-untyped-def]
    """Late tasks to be expected more with the task there: itself, and the tightest of those that it slows down."""
    share = share_with(task, host)
    before = chance_late(host.needed, share_now(host), deviation)
    others = chance_late(host.needed, share, deviation) - before
    return others + chance_late(share_needed(task, host), share, deviation)
