"""What sets two plans apart, as numbers: sums over the hosts on which they differ.

Each host is drained on paper, tasks at their expected work: what it costs until then, how likely tasks are late, what
it has free meanwhile. A selector that compares plans predicts from the difference, and from the context, how much
more one of them will have cost than the other.
"""

from __future__ import annotations

import math

import numpy as np

from trimtab.policies.assign.capacity import cores_used, records, time_moving
from trimtab.policies.assign.compiled import compiled
from trimtab.policies.assign.contract import HIBERNATED, ON, WAKING, Floats, HostTable, Ints, TaskTable
from trimtab.policies.assign.objective import share_out

HOST = (
    "usd",  # until it has drained
    "late",  # tasks that end late if all take as long as expected
    "risk-low",  # tasks that end late with the work of each 15 % uncertain …
    "risk",  # … 30 % …
    "risk-high",  # … 60 %
    "wakes",  # it sleeps, and will be woken
    "wake-usd",  # what waking costs
    "idle-usd",  # paid for cores that nobody uses until it has drained
    "free",  # cores that nobody uses now
    "free-short",  # the same, if the host will be up for a minute at least
    "overcommitted",  # cores wanted beyond those there are
    "hours",  # until it has drained
)
"""Of a host with tasks."""
PLAN = (*HOST, "waiting", "moves", "moving-seconds")
"""Of a plan."""
CONTEXT = (
    "one",
    "arrivals",  # tasks that came in the last minute, over hosts
    "tasks",  # over hosts
    "cheap-asleep",  # share of the machines with the lowest price a core that sleep
    "free",  # cores of awake hosts that nobody uses, over all cores of awake hosts
    "minutes",  # that a task takes alone
    "slack",  # of the time to the deadline, what a task does not need when alone
)
"""Of a state."""

_MINUTE = 60.0
_DEVIATIONS = (0.15, 0.3, 0.6)
_STEEP = 1.702


class Comparison:
    """Plans for the same tasks and hosts, each against the first one that it was made with."""

    def __init__(self, tasks: TaskTable, hosts: HostTable, current: Ints, reference: Ints) -> None:
        self._tasks, self._hosts, _ = records(tasks, hosts, current)
        self._asleep = hosts.state == HIBERNATED
        self._reference = np.ascontiguousarray(reference, np.int32)

    def difference(self, plan: Ints) -> Floats:
        """By column of ``PLAN``: this plan less the reference."""
        found = np.zeros(len(PLAN))
        plan = np.ascontiguousarray(plan, np.int32)
        _difference(self._tasks, self._hosts, self._asleep, plan, self._reference, found)
        return found


def context(tasks: TaskTable, hosts: HostTable, current: Ints) -> Floats:
    """By column of ``CONTEXT``."""
    count = len(hosts.cores)
    core_price = hosts.price / (hosts.cores * hosts.speed)
    cheap = core_price <= core_price.min() * (1.0 + 1e-9)
    awake = (hosts.state == ON) | (hosts.state == WAKING)
    placed = current >= 0
    wanted = np.bincount(current[placed], tasks.cores[placed], count)
    free = np.maximum(hosts.cores - wanted, 0.0)[awake].sum() / max(hosts.cores[awake].sum(), 1.0)
    alone = tasks.remaining / np.maximum(tasks.cores, 1e-9)
    left = np.maximum(tasks.deadline - tasks.age, 1.0)
    hurried = np.isfinite(left)
    slack = np.clip(1.0 - alone[hurried] / left[hurried], -1.0, 1.0).mean() if hurried.any() else 1.0
    return np.array(
        [
            1.0,
            np.count_nonzero(tasks.age < _MINUTE) / count,
            len(tasks.age) / count,
            float(np.mean(hosts.state[cheap] == HIBERNATED)),
            free,
            alone.mean() / 300.0,
            slack,
        ]
    )


@compiled
def _difference(tasks, hosts, asleep, plan, reference, found):  # type: ignore[no-untyped-def]
    changed = np.zeros(len(hosts), np.bool_)
    for index in range(len(plan)):
        for which, sign in ((plan[index], 1.0), (reference[index], -1.0)):
            if plan[index] != reference[index] and which >= 0:
                changed[which] = True
            if which < 0:
                found[len(HOST)] += sign
            elif tasks[index].place >= 0 and tasks[index].place != which:
                found[len(HOST) + 1] += sign
                found[len(HOST) + 2] += sign * time_moving(tasks[index], hosts[which])
    for host in np.flatnonzero(changed):
        _add_host(tasks, hosts[host], asleep[host], np.flatnonzero(plan == host), 1.0, found)
        _add_host(tasks, hosts[host], asleep[host], np.flatnonzero(reference == host), -1.0, found)


@compiled
def _add_host(tasks, host, asleep, members, sign, found):  # type: ignore[no-untyped-def]
    if len(members) == 0:
        return
    seconds, busy = _drain(tasks, host, members, sign, found)
    demand = 0.0
    for index in members:
        demand += cores_used(tasks[index], host)
    free = max(host.cores - demand, 0.0)
    found[0] += sign * host.price * seconds * 1e3
    found[5] += sign * (1.0 if asleep else 0.0)
    found[6] += sign * (host.price * host.wait * 1e3 if asleep else 0.0)
    found[7] += sign * host.price * (seconds - busy / host.cores) * 1e3
    found[8] += sign * free
    found[9] += sign * (free if seconds > 60.0 else 0.0)
    found[10] += sign * max(demand - host.cores, 0.0)
    found[11] += sign * seconds / 3600.0


@compiled
def _drain(tasks, host, members, sign, found):  # type: ignore[no-untyped-def]
    """Seconds until the host has drained and core-seconds used; adds up late tasks and the risk of such."""
    left, starts, rates = np.empty(len(members)), np.empty(len(members)), np.zeros(len(members))
    for place in range(len(members)):
        task = tasks[members[place]]
        left[place] = max(task.remaining, 1e-9)
        starts[place] = max(host.wait, time_moving(task, host))
    now, busy = 0.0, 0.0
    while True:
        step = share_out(tasks, host, members, left, starts, now, rates)
        if step == np.inf:
            return now, busy
        for place in range(len(members)):
            if rates[place] > 0.0:
                busy += rates[place] * step
                left[place] -= rates[place] * host.speed * step
                if left[place] <= 1e-9:
                    left[place] = 0.0
                    _end(tasks[members[place]], now + step + 0.5 * host.delay, sign, found)
        now += step


@compiled
def _end(task, seconds, sign, found):  # type: ignore[no-untyped-def]
    if task.time_left == np.inf:
        return
    if seconds > task.time_left:
        found[1] += sign
    ratio = math.log(max(seconds, 1e-3) / max(task.time_left, 1e-3))
    for kind in range(len(_DEVIATIONS)):
        found[2 + kind] += sign / (1.0 + math.exp(-min(max(_STEEP * ratio / _DEVIATIONS[kind], -40.0), 40.0)))
