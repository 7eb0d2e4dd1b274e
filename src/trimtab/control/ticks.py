"""When a decision outside the engine is due: every period of simulated time."""

from __future__ import annotations

import math

from trimtab.sim.simulation import Simulation

_HOPELESS = 100_000.0
"""Seconds after the last arrival and the last answer."""


class Ticks:
    """Takes a run from one tick to the next; there may be several clocks, each with a period of its own."""

    def __init__(self, simulation: Simulation, *periods: float) -> None:
        self.simulation, self.periods = simulation, periods
        self._due: list[float | None] = [None if math.isfinite(period) else math.inf for period in periods]

    def run(self, until: float) -> tuple[int, ...]:
        """Run to the next tick or to ``until``, whichever comes first; returns which clocks tick now, if any.

        Where the run stops for a placement or a routing that is asked outside, the tick remains due.
        """
        simulation = self.simulation
        times = [
            (math.floor(simulation.now / period + 1e-9) + 1) * period if due is None else due
            for period, due in zip(self.periods, self._due, strict=True)
        ]
        following = min(times)
        over = simulation.advance(min(following, until))
        ticks = not over and not simulation.asks and simulation.now >= following - 1e-9
        now = tuple(clock for clock, time in enumerate(times) if ticks and time <= following + 1e-9)
        self._due = [None if clock in now else time for clock, time in enumerate(times)]
        return now


def is_hopeless(simulation: Simulation) -> bool:
    """Whether a run cannot end: requests wait for capacity that no policy ever starts."""
    last = max(float(simulation.core.world[0]["last_end"]), simulation.workload.duration)
    return simulation.now - last > _HOPELESS
