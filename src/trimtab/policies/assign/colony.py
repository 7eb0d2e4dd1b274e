"""An ant colony that improves the current plan: shared by ``arima-aco`` and ``lstm-aco``.

Each ant takes some tasks off their hosts, and then gives every task without a host one, in turn, with a probability of

    pheromone[application, host] ^ a  x  (cheapest host's cost / this host's cost) ^ b

where a cost is what the task adds to the bill until the host is drained (``drain.py``). The first ant takes the
cheapest host throughout. The best ants of a round lay pheromone, the better the more; it evaporates and stays within
limits (max-min ant system), and goes on from interval to interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trimtab.policies.assign.capacity import (
    HOST,
    Records,
    completion,
    cores_used,
    fits,
    meets_deadlines,
    put,
    share_needed,
    soonest,
    time_alone,
    time_moving,
)
from trimtab.policies.assign.compiled import compiled
from trimtab.policies.assign.contract import Floats, HostTable, Ints
from trimtab.policies.assign.drain import added_risk, added_seconds, chance_late, drained, share_now
from trimtab.policies.assign.objective import ENERGY_PRICE, VIOLATION_PRICE

_LEAST, _START = 0.05, 0.5
"""Limits of pheromone are this and 1; where nobody has been yet it is in between."""


_WAITING = 1e3
"""USD."""
_HABITS = np.dtype(
    [
        ("trust", np.float64),
        ("thrift", np.float64),
        ("evaporation", np.float64),
        ("margin", np.float64),
        ("deviation", np.float64),
        ("gain", np.float64),
        ("moved", np.int64),
    ],
    align=True,
)


@dataclass(frozen=True)
class Habits:
    """How the ants search."""

    ants: int = 8
    rounds: int = 6
    trust: float = 1.0
    """Power of the pheromone."""
    thrift: float = 8.0
    """Power of the cost."""
    evaporation: float = 0.2
    """Share of the pheromone that a round takes."""
    memory: float = 0.9
    """Share of the pheromone that is left from one interval to the next; the rest goes back to its start."""
    moved: int = 3
    """Running tasks that an ant takes off their hosts."""
    margin: float = 1.5
    """A host is in time if all its tasks are, even if they take this many times as long as expected."""
    deviation: float = 0.45
    """Relative standard deviation of the work that a task has left."""
    gain: float = 1e-3
    """USD that a migration must save beside what it costs."""

    def row(self) -> Records:
        """What compiled functions need of it."""
        values = (self.trust, self.thrift, self.evaporation, self.margin, self.deviation, self.gain, self.moved)
        return np.array([values], _HABITS)


class Colony:
    """Pheromone, and the search that it guides."""

    def __init__(self, habits: Habits, seed: int) -> None:
        self.habits = habits
        self.pheromone: Floats = np.zeros((0, 0))
        """Applications by hosts, between a small positive value and 1."""
        self._stream = np.random.default_rng(seed)

    def improve(
        self, tasks: Records, application: Ints, movable: npt.NDArray[np.bool_], hosts: Records, start: Ints
    ) -> Ints:
        """A better plan than ``start``: a host for each task, where memory allows.

        Hosts are those of ``capacity.records``, with the tasks that have a host in ``start`` on them.
        """
        if len(start) == 0:
            return start
        habits = self.habits
        self._make_room(int(application.max(initial=-1)) + 1, len(hosts))
        self.pheromone = _START + habits.memory * (self.pheromone - _START)
        loose = np.flatnonzero(movable & (start >= 0)).astype(np.int64)
        # one to choose each task that is taken off, one for its new host, one for the host of each new task
        steps = 2 * habits.moved + int((start < 0).sum())
        draws = self._stream.random((habits.rounds, habits.ants, steps))
        found: Ints = _search(tasks, application, hosts, start, loose, self.pheromone, draws, habits.row())
        return found

    def _make_room(self, applications: int, hosts: int) -> None:
        """New applications and hosts begin with the pheromone of a place where nobody has been."""
        rows, columns = self.pheromone.shape
        if applications > rows or hosts != columns:
            larger = np.full((max(applications, rows), hosts), _START)
            kept = min(hosts, columns)
            larger[:rows, :kept] = self.pheromone[:, :kept]
            self.pheromone = larger


def with_energy(machines: Records, table: HostTable) -> Records:
    """The hosts, with their electricity at full load in their price."""
    dearer = machines.copy()
    dearer["price"] += ENERGY_PRICE * table.power_full / 3.6e6
    return dearer


@compiled
def _search(tasks, application, hosts, start, loose, pheromone, draws, row):  # type: ignore[no-untyped-def]
    """Rounds of ants from the plan ``start``; ``pheromone`` is changed in place. Returns the best plan found."""
    rounds, ants, _ = draws.shape
    habits = row[0]
    evaporation = habits.evaporation
    best, least, scarce = start.copy(), np.inf, False
    plans, costs = np.empty((ants, len(start)), np.int32), np.empty(ants)
    scratch = np.zeros(len(hosts), HOST)
    for turn in range(rounds):
        for ant in range(ants):
            plans[ant] = start
            for index in range(len(hosts)):
                scratch[index] = hosts[index]
            greedy = turn == 0 and ant == 0
            if not greedy and not scarce:
                _loosen(tasks, hosts, scratch, plans[ant], loose, draws[turn, ant], habits)
            _place(tasks, application, scratch, start, plans[ant], pheromone, draws[turn, ant], habits, greedy)
            costs[ant] = _bill(tasks, scratch, start, plans[ant], habits)
            # while a task waits for memory, all that is free is kept for it
            scarce = scarce or (greedy and plans[ant].min() < 0)
            if costs[ant] < least:
                least = costs[ant]
                best[:] = plans[ant]
        pheromone *= 1.0 - evaporation
        order = np.argsort(costs)
        for rank in range(min(3, ants)):
            _deposit(pheromone, application, plans[order[rank]], evaporation / (rank + 2.0))
        _deposit(pheromone, application, best, 0.5 * evaporation)
        for trail in pheromone:
            for index in range(len(trail)):
                trail[index] = min(max(trail[index], _LEAST), 1.0)
    return best


@compiled
def _deposit(pheromone, application, plan, amount):  # type: ignore[no-untyped-def]
    for index in range(len(plan)):
        if plan[index] >= 0:
            pheromone[application[index], plan[index]] += amount


@compiled
def _loosen(tasks, hosts, after, plan, loose, draws, habits):  # type: ignore[no-untyped-def]
    """Take some of the tasks that can be moved off their hosts."""
    for step in range(min(habits.moved, len(loose))):
        task = loose[int(draws[step] * len(loose))]
        if plan[task] >= 0:
            _take_off(tasks, hosts, after, plan, task)


@compiled
def _place(tasks, application, after, start, plan, pheromone, draws, habits, greedy):  # type: ignore[no-untyped-def]
    """Give each task without a host one, as far as memory lasts."""
    step = habits.moved
    for index in range(len(tasks)):
        if plan[index] < 0:
            host = _chosen(
                tasks[index], start[index], after, pheromone[application[index]], draws[step], habits, greedy
            )
            step += 1
            if host >= 0:
                if start[index] == host:
                    after[host].memory_free += tasks[index].memory
                put(tasks[index], after[host])
                plan[index] = host


@compiled
def _take_off(tasks, hosts, after, plan, task):  # type: ignore[no-untyped-def]
    """Account for the host without the task; the most of what is left is found anew.

    Its memory stays taken: a plan is carried out task by task, so what leaves makes no room for others yet.
    """
    place = plan[task]
    host = after[place]
    plan[task] = -1
    host.demand = host.work = host.needed = host.longest = 0.0
    for index in range(len(tasks)):
        if plan[index] == place:
            other = tasks[index]
            needed = share_needed(other, host)
            if needed <= 1.0:
                host.needed = max(host.needed, needed)
            host.demand += cores_used(other, host)
            host.work += other.remaining
            host.longest = max(host.longest, time_alone(other, host))
    if host.demand == 0.0:
        # nothing is left on it: whoever is put there keeps it awake, and is paid for, but need not wake it
        host.awake = hosts[place].awake


@compiled
def _chosen(task, home, hosts, trail, draw, habits, greedy):  # type: ignore[no-untyped-def]
    """The host that an ant takes for a task; of sleeping hosts of one kind only the first is looked at."""
    costs = np.full(len(hosts), np.inf)
    least, cheapest = np.inf, -1
    asleep = -1
    for index in range(len(hosts)):
        host = hosts[index]
        if index != home and not fits(task, host):
            continue
        if not host.awake:
            if asleep >= 0 and _alike(host, hosts[asleep]):
                continue
            asleep = index
        if meets_deadlines(task, host, habits.margin):
            costs[index] = _cost(task, host, habits)
            if costs[index] < least:
                least, cheapest = costs[index], index
    if cheapest < 0:
        return _soonest(task, home, hosts)
    if greedy:
        return cheapest
    return _drawn(costs, least, trail, draw, habits)


@compiled
def _soonest(task, home, hosts):  # type: ignore[no-untyped-def]
    """Where a task ends first that is in time nowhere; where it runs now counts, though its memory looks taken."""
    found = soonest(task, hosts)
    if home >= 0 and (found < 0 or completion(task, hosts[home]) <= completion(task, hosts[found])):
        return home
    return found


@compiled
def _alike(host, other):  # type: ignore[no-untyped-def]
    same_size = host.cores == other.cores and host.speed == other.speed and host.memory_free == other.memory_free
    return same_size and host.price == other.price and host.delay == other.delay


@compiled
def _cost(task, host, habits):  # type: ignore[no-untyped-def]
    """USD that the task adds there; a little is added so that what costs nothing can be compared."""
    seconds = added_seconds(task, host)
    risk = added_risk(task, host, habits.deviation)
    moving = habits.gain if task.place >= 0 and task.place != host.index else 0.0
    return 1e-5 + host.price * seconds + VIOLATION_PRICE * risk + moving


@compiled
def _drawn(costs, least, trail, draw, habits):  # type: ignore[no-untyped-def]
    total = 0.0
    weights = np.zeros(len(costs))
    for index in range(len(costs)):
        if costs[index] < np.inf:
            weights[index] = trail[index] ** habits.trust * (least / costs[index]) ** habits.thrift
            total += weights[index]
    rest, last = draw * total, -1
    for index in range(len(costs)):
        if weights[index] > 0.0:
            last = index
            rest -= weights[index]
            if rest < 0.0:
                break
    return last


@compiled
def _bill(tasks, hosts, start, plan, habits):  # type: ignore[no-untyped-def]
    """USD of a plan until all hosts are drained; a task that waits costs more than anything else could save."""
    total = 0.0
    for index in range(len(hosts)):
        host = hosts[index]
        if host.demand > 0.0:
            total += host.price * (drained(host) + host.wait)
    for index in range(len(tasks)):
        task, place = tasks[index], plan[index]
        if place < 0:
            total += _WAITING
            continue
        host = hosts[place]
        total += VIOLATION_PRICE * chance_late(share_needed(task, host), share_now(host), habits.deviation)
        if start[index] >= 0 and place != start[index]:
            total += habits.gain + host.price * time_moving(task, host)
    return total
