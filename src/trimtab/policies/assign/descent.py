"""Search by gradient descent on a surrogate's inputs, the relaxed assignment matrix X, as GOBI does it.

X begins as the plan of the interval before. A step moves every row along the negative gradient; the largest entry of a
row is the host that it asks for. As in GOBI's own code X is made one-hot again after each step while the moments of the
optimiser live on, the learning rate is annealed by a cosine, and the search ends when the plan no longer changes.

Ours: entries of a row compete for one task, so rows are scaled as a whole (by entry, as in Adam, the largest gain
would look like the smallest). A row's wish is granted only where the surrogate's own value confirms it: a migration
must pay more than ``worth``, memory must last, and in one step a host is touched once, so that gains add up.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from trimtab.policies.assign.contract import Bools, Floats, Ints
from trimtab.policies.assign.features import View
from trimtab.policies.assign.ties import SAME, falling, first_best, first_best_of_rows

RATE = 0.8
PERIOD = 10
"""Steps in which the learning rate falls to 0; then it rises again."""
STEPS = 40
PATIENCE = 6
"""Steps without a change after which the plan is final."""
_BETAS = (0.9, 0.999)


class Surrogate(Protocol):
    """What the search asks."""

    plan: Ints

    def gradient(self, tasks: Ints) -> Floats:
        """Of the objective by rows of X."""

    def gains(self, tasks: Ints, targets: Ints) -> Floats:
        """What the objective falls by for each move alone."""

    def move(self, tasks: Ints, targets: Ints) -> None:
        """Carry out moves."""


class Curved(Surrogate, Protocol):
    """What a second-order search asks besides."""

    def curvature(self, tasks: Ints, hosts: Ints) -> Floats:
        """Second derivatives by entries of X."""


class Room:
    """Memory of the hosts while a plan changes.

    A plan is carried out task by task, so what leaves a host in this interval makes no room for others in it.
    """

    def __init__(self, view: View) -> None:
        self.start, self.memory = view.start, view.tasks["memory"]
        self.usable = view.hosts["usable"]
        self.free = view.hosts["memory_free"].copy()

    def open(self, tasks: Ints) -> Bools:
        """Tasks by hosts: whether the host could take the task now."""
        found: Bools = self.usable & (self.free >= self.memory[tasks][:, None])
        home = np.flatnonzero(self.start[tasks] >= 0)
        found[home, self.start[tasks[home]]] = True
        return found

    def take(self, task: int, source: int, target: int) -> None:
        """Account for a move."""
        if source >= 0 and source != self.start[task]:
            self.free[source] += self.memory[task]
        if target != self.start[task]:
            self.free[target] -= self.memory[task]


def place_new(surrogate: Surrogate, room: Room) -> None:
    """A task without a host begins where the surrogate finds it cheapest; one for which there is no room waits."""
    for task in np.flatnonzero(surrogate.plan < 0).astype(np.int32):
        row = np.array([task], np.int32)
        hosts = np.flatnonzero(room.open(row)[0]).astype(np.int32)
        if len(hosts) > 0:
            gains = surrogate.gains(np.full(len(hosts), task, np.int32), hosts)
            best = hosts[first_best(gains)]
            room.take(int(task), -1, int(best))
            surrogate.move(row, best[None])


def descend(surrogate: Surrogate, room: Room, movable: Bools, worth: float, curved: Curved | None = None) -> int:
    """Move placed tasks while it pays; returns the number of steps.

    With ``curved``, the surrogate once more, steps are those of Adahessian: the gradient over the second derivative of
    each entry. A move then looks worth its while where a parabola falls, not only a straight line.
    """
    rows = np.flatnonzero(movable & (surrogate.plan >= 0)).astype(np.int32)
    if len(rows) == 0:
        return 0
    moments = np.zeros((len(rows), len(room.free)))
    scales = np.zeros(moments.shape if curved else (len(rows), 1))
    refused = np.zeros(moments.shape, np.bool_)
    everyone, still = np.arange(len(rows)), 0
    for step in range(1, STEPS + 1):
        here = surrogate.plan[rows]
        slope = surrogate.gradient(rows)
        slope -= slope[everyone, here][:, None]
        closed = ~room.open(rows) | refused
        slope[closed & (slope < 0.0)] = 0.0
        moments = _BETAS[0] * moments + (1.0 - _BETAS[0]) * slope
        size = _curvature(curved, rows, here, slope) if curved else np.abs(slope.min(axis=1))[:, None]
        scales = _BETAS[1] * scales + (1.0 - _BETAS[1]) * size**2
        rate = 0.5 * RATE * (1.0 + np.cos(np.pi * (step - 1) / PERIOD))
        wishes = _wishes(moments / (1.0 - _BETAS[0] ** step), np.sqrt(scales / (1.0 - _BETAS[1] ** step)), rate, here)
        wishes = np.where(closed[everyone, wishes], here, wishes)
        asking = np.flatnonzero(wishes != here)
        granted = _grant(surrogate, room, rows[asking], wishes[asking].astype(np.int32), worth)
        refused[asking[~granted], wishes[asking[~granted]]] = True
        moments[asking[granted]] = 0.0
        still = 0 if granted.any() else still + 1
        if still >= PATIENCE or not np.any((slope < 0.0) & ~refused):
            return step
    return STEPS


def _wishes(moments: Floats, scales: Floats, rate: float, here: Ints) -> Ints:
    """One step from the one-hot matrix: what a row gains elsewhere it loses where it is; then the largest entry."""
    change = -rate * moments / (scales + 1e-12)
    rows = np.arange(len(here))
    change[rows, here] = 0.0
    entries = change.copy()
    entries[rows, here] = 1.0 - change.max(axis=1)
    return first_best_of_rows(entries)


def _curvature(surrogate: Curved, rows: Ints, here: Ints, slope: Floats) -> Floats:
    """Size of the second derivatives of a move: those of its target and of where the task is now.

    Only where the gradient falls: all others are not asked for.
    """
    hosts = np.unique(np.concatenate([np.flatnonzero((slope < 0.0).any(axis=0)), here])).astype(np.int32)
    curved = np.abs(surrogate.curvature(rows, hosts))
    found = np.full(slope.shape, np.abs(slope).max() + 1e-12)
    found[:, hosts] = curved + curved[np.arange(len(rows)), np.searchsorted(hosts, here)][:, None]
    return found


def _grant(surrogate: Surrogate, room: Room, tasks: Ints, targets: Ints, worth: float) -> Bools:
    """Carry out the wishes that pay, the best first; those that only came too late in this step may ask again."""
    answer = np.ones(len(tasks), np.bool_)
    if len(tasks) == 0:
        return answer
    gains = surrogate.gains(tasks, targets)
    sources, touched, chosen = surrogate.plan[tasks].copy(), set[int](), []
    for place in falling(gains):
        task, source, target = int(tasks[place]), int(sources[place]), int(targets[place])
        # going back to where the task runs is no migration
        price = 0.0 if target == room.start[task] or room.start[task] < 0 else worth
        if gains[place] <= price + SAME:
            answer[place] = False
        elif source not in touched and target not in touched and room.open(tasks[place : place + 1])[0, target]:
            touched |= {source, target}
            room.take(task, source, target)
            chosen.append(place)
    if chosen:
        surrogate.move(tasks[chosen], targets[chosen])
    return answer
