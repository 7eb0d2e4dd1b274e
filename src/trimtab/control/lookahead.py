"""What a decision will have cost: branches of a run that are played on, arrivals and all, until the work is done.

    cost = host USD + function charges + price of violations, from now on until everything has drained

A policy plans for some intervals while tasks arrive; what is unfinished then is worth what it costs to finish it with
nobody arriving any more. The cost of the first intervals alone would reward whoever defers work.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from trimtab.control.assigning import AssignLoop
from trimtab.control.simulated import SimulatedPlatform
from trimtab.sim import records
from trimtab.sim.meters import meter_all
from trimtab.sim.simulation import Simulation

HORIZON = 6
"""Intervals with arrivals."""
_PATIENCE = 200
"""Intervals after which tasks that found no host are given up."""


def outlook(simulation: Simulation, policies: Sequence[Any], horizon: int = HORIZON, doubt: float = 0.0) -> float:
    """USD from now on if ``policies`` plan one interval each and the last one goes on; the run itself is untouched.

    With ``doubt``, the relative deviation of the work, a task counts as late by the chance that another draw of its
    work had been: that says more of a plan than whether this one was.
    """
    branch = simulation.branch()
    loop = AssignLoop(SimulatedPlatform(branch), copy.deepcopy(policies[0]))
    before = _spent(branch, doubt)
    begin = branch.now
    for interval in range(horizon):
        if 0 < interval < len(policies):
            loop.policy = copy.deepcopy(policies[interval])
            loop.watchers = (loop.policy,)
        # the run has shown this moment to its policies: a copy that saw it twice would count an interval too many
        loop.tick(loop.view() if interval == 0 else None)
        run_until(loop, begin + (interval + 1) * loop.interval)
    _drain(loop, begin + horizon * loop.interval)
    return _spent(branch, doubt) + _given_up(branch) - before + loop.bill.usd


def run_until(loop: AssignLoop, until: float) -> None:
    """Run on, and carry out the plan that is on its way when it comes."""
    simulation = loop.platform.simulation
    if loop.due < until:
        simulation.advance(loop.due)
        loop.apply()
    simulation.advance(until)


def _drain(loop: AssignLoop, begin: float) -> None:
    """Play on until all that has arrived is done."""
    simulation = loop.platform.simulation
    world = simulation.core.world[0]
    world["requests"] = world["next_request"]
    for interval in range(1, _PATIENCE + 1):
        if simulation.ended or not _unplanned(simulation):
            break
        loop.tick()
        run_until(loop, begin + interval * loop.interval)
    if not simulation.ended:
        simulation.advance(math.inf)


def _given_up(simulation: Simulation) -> float:
    """USD for tasks that never ended: each is a violation."""
    arrived = simulation.core.results["status"][: int(simulation.core.world[0]["next_request"])]
    return simulation.scenario.violation_price * int(np.count_nonzero(arrived == records.PENDING))


def _unplanned(simulation: Simulation) -> bool:
    active = simulation.core.active
    return bool(np.any((active["id"] >= 0) & (active["phase"] == records.UNASSIGNED)))


def _spent(simulation: Simulation, doubt: float) -> float:
    """USD of hosts and violations so far."""
    meter_all(simulation.core)
    hosts, results = simulation.core.hosts, simulation.core.results
    late = _likely_late(simulation, doubt) if doubt > 0.0 else float(results["late"].sum())
    failed = int(np.count_nonzero(results["status"] == records.FAILED))
    paid = float((hosts["on_seconds"] * hosts["price"]).sum()) / 3600.0
    return paid + simulation.scenario.violation_price * (late + failed)


def _likely_late(simulation: Simulation, doubt: float) -> float:
    """Tasks that are done, each by the chance to be late: a logistic curve of the logarithm of time over deadline."""
    columns, results = simulation.columns, simulation.core.results
    done = np.flatnonzero(results["status"][: len(columns.arrival)] == records.COMPLETED)
    allowed = simulation.core.functions["deadline"][columns.function[done]]
    done, allowed = done[np.isfinite(allowed)], allowed[np.isfinite(allowed)]
    taken = results["completion"][done] - columns.arrival[done]
    steepness = math.pi / math.sqrt(3.0) / doubt
    return float((1.0 / (1.0 + np.exp(-np.clip(steepness * np.log(taken / allowed), -40.0, 40.0)))).sum())
