"""The engine's own routing, asked from outside: the same code decides here and in a simulation."""

from __future__ import annotations

from trimtab.sim.kernel import entry
from trimtab.sim.routing import end_stream, route_stream


@entry
def route_next(core, columns, mind, route):
    """Bind the next stream to a worker; returns the worker, -1 for a rejection, or less for a bad answer.

    The engine would play the stream's end from its queue of events; here real time does.
    """
    choice = route_stream(core, columns, mind, route)
    core.world[0].heap_size = 0
    return choice


@entry
def stream_over(core, columns, index):
    """A stream has ended: its worker's load falls."""
    end_stream(core, columns, index)
