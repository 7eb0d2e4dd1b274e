"""When a decision outside the engine is due: every period of simulated time."""

from __future__ import annotations

import math

from trimtab.sim.simulation import Simulation

_HOPELESS = 100_000.0
"""Seconds after the last arrival and the last answer."""


class Ticks:
    """Takes a run from one tick to the next."""

    def __init__(self, simulation: Simulation, period: float) -> None:
        self.simulation, self.period = simulation, period
        self._due: float | None = None

    def run(self, until: float) -> bool:
        """Run to the next tick or to ``until``, whichever comes first; returns whether a tick has come.

        Where the run stops for a placement or a routing that is asked outside, the tick remains due.
        """
        simulation = self.simulation
        if math.isinf(self.period):
            simulation.advance(until)
            return False
        if self._due is None:
            self._due = (math.floor(simulation.now / self.period + 1e-9) + 1) * self.period
        over = simulation.advance(min(self._due, until))
        if over or simulation.asks or simulation.now < self._due - 1e-9:
            return False
        self._due = None
        return True


def is_hopeless(simulation: Simulation) -> bool:
    """Whether a run cannot end: requests wait for capacity that no policy ever starts."""
    last = max(float(simulation.core.world[0]["last_end"]), simulation.workload.duration)
    return simulation.now - last > _HOPELESS
