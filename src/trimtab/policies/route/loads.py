"""Shared looks at workers: relative load, and a draw among the feasible ones."""

from __future__ import annotations

from trimtab.sim.draw import below
from trimtab.sim.kernel import kernel, routine


@kernel
def capacity(worker):
    """Queries a second that all instances of the worker can take, those that are starting included."""
    return worker.capacity * max(worker.ready + worker.starting, 1)


@kernel
def relative_load(worker):
    """Load over the capacity of all instances of the worker, L / C."""
    return worker.load / capacity(worker)


@routine
def draw(workers, random):
    """A feasible worker, each with the same probability; -1 if there is none."""
    chosen, seen = -1, 0
    for index in range(len(workers)):
        if workers[index].feasible == 1:
            seen += 1
            if below(random, seen) == 0:
                chosen = index
    return chosen


@kernel
def predicted_delay(stream, worker):
    """Network, transmission, the queue as it stands, and service: seconds until an answer is back."""
    return worker.network + worker.wait + worker.delay
