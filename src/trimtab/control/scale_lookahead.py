"""What a choice among scale policies will have cost: branches of a run that are played on, arrivals and all.

One candidate decides for a while, another one after it. What is unfinished at the end is drained with nobody arriving
any more: requests that are late by then are violations of whoever let them wait.
"""

from __future__ import annotations

import math

import numpy as np

from trimtab.control.scale_cost import ScaleMeter, violation_price
from trimtab.control.scale_watch import ScaleWatch
from trimtab.control.simulated import SimulatedPlatform
from trimtab.control.ticks import Ticks
from trimtab.sim import records
from trimtab.sim.simulation import Simulation

_EDGE = 1e-9


def scale_outlook(watch: ScaleWatch, first: str, then: str, seconds: float, beyond: float) -> float:
    """USD from now on if ``first`` decides for so many seconds and ``then`` after it; the run itself is untouched."""
    branch = watch.simulation.branch()
    watching = watch.branch(branch, {first, then})
    platform = SimulatedPlatform(branch)
    meter = ScaleMeter(platform)
    watching.act(platform, first)
    _play(watching, platform, (first, then), branch.now + seconds, branch.now + seconds + beyond)
    if branch.ended:
        branch.finish()  # instances are paid for to the end of the workload, whoever was done first
    held = meter.close().usd
    given_up = _drained(branch)
    return held + meter.count().usd + violation_price(branch.scenario) * given_up


def _play(watch: ScaleWatch, platform: SimulatedPlatform, names: tuple[str, str], switch: float, end: float) -> None:
    simulation = watch.simulation
    ticks = Ticks(simulation, *watch.periods)
    while not simulation.ended and simulation.now < end - _EDGE:
        if ticks.run(end):
            watch.tick()
            watch.act(platform, names[simulation.now >= switch - _EDGE])


def _drained(simulation: Simulation) -> int:
    """Play on until all that has arrived has ended; returns how many requests never did."""
    world = simulation.core.world[0]
    world["requests"] = world["next_request"]
    if not simulation.ended:
        simulation.advance(math.inf)
    arrived = simulation.core.results["status"][: int(world["next_request"])]
    return int(np.count_nonzero(arrived == records.PENDING))
