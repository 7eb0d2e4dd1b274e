"""One policy on one seed: builds the simulation, drives its decisions, and collects the outcome."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from trimtab.control.guards import ScaleGuard
from trimtab.control.simulated import SimulatedPlatform
from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.scenario.model import Scenario
from trimtab.sim import records
from trimtab.sim.outcome import Outcome
from trimtab.sim.probe import decision_seconds
from trimtab.sim.results import collect, readings
from trimtab.sim.simulation import Simulation
from trimtab.workload.table import Workload

_DEFAULTS = {"place": "least-connections", "route": "load-balancing", "scale": "fixed", "assign": "first-fit"}


@dataclass
class Team:
    """Who takes which decision in a run."""

    policies: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, decision: str) -> Any:
        return self.policies.get(decision)

    def copy(self) -> Team:
        """The same policies, those that keep state of their own copied: runs must not share it."""
        return Team({name: copy.copy(each) if name == "assign" else each for name, each in self.policies.items()})


def decisions_of(scenario: Scenario) -> tuple[str, ...]:
    """The decisions that a scenario asks for."""
    found = []
    if scenario.platform.dispatch == "interval":
        return ("assign",)
    if scenario.workload.source == "streams":
        found.append("route")
    if scenario.platform.instances == "controlled" and not scenario.variants:
        found.append("scale")
    if not scenario.variants:
        found.append("place")
    return tuple(found)


def build_team(scenario: Scenario, decision: str, name: str, parameters: dict[str, Any] | None = None) -> Team:
    """The policy that is judged, and those that take the other decisions of the scenario."""
    team = Team()
    needed = decisions_of(scenario)
    if decision not in needed:
        raise TrimtabError(f"decision = {decision!r}, this scenario has: {', '.join(needed)}")
    for each in needed:
        chosen = name if each == decision else scenario.policies.get(each, _DEFAULTS[each])  # type: ignore[call-overload]
        given = dict(scenario.parameters.get(chosen, {}))
        if each == decision:
            given |= parameters or {}
        team.policies[each] = registry.load(each, chosen, given or None, scenario.name)
    return team


def run(
    scenario: Scenario,
    workload: Workload,
    seed: int,
    team: Team,
    label: str,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run one policy on one seed to the end of every request."""
    began = time.perf_counter()
    simulation = Simulation(scenario, workload, seed, place=team["place"], route=team["route"], stop=stop)
    driver = _Driver(scenario, simulation, team, seed)
    baseline = driver.warm_up(workload.warm_up)
    driver.finish()
    wall = time.perf_counter() - began
    outcome = collect(simulation, label, baseline, wall)
    outcome.notes.extend(driver.notes())
    outcome.meters.update(driver.meters())
    if driver.thoughts:
        return replace(outcome, decisions=driver.thoughts, decision_seconds=driver.thinking)
    return replace(outcome, decision_seconds=decision_seconds(simulation) * outcome.decisions)


class _Driver:
    """Takes the decisions that are made outside the engine, each at its own time."""

    def __init__(self, scenario: Scenario, simulation: Simulation, team: Team, seed: int) -> None:
        self.simulation, self.scenario = simulation, scenario
        self.platform = SimulatedPlatform(simulation)
        self.scale, self.assign = team["scale"], team["assign"]
        self.changes, self.refused, self.late_plans = 0, 0, 0
        self.thinking, self.thoughts = 0.0, 0
        self._states: list[Any] = [None] * len(simulation.deployed)
        control = scenario.control
        self._delay = control.metrics_delay
        self._pending: list[tuple[float, list[Any]]] = []
        if self.scale is not None:
            self.guard = ScaleGuard(
                self.scale, control.minimum, control.maximum, control.cpu_minimum, control.cpu_maximum
            )
            self.period = control.period or self.scale.period
        elif self.assign is not None:
            self.assign.reset(seed)
            self.period = control.interval
        else:
            self.period = math.inf

    def warm_up(self, until: float) -> dict[str, float]:
        """Run through the warm-up; returns the meters at its end, to be taken off."""
        if until <= 0.0:
            return {}
        self._drive(until)
        self.platform.bill()
        self.platform.core_seconds = 0.0
        return readings(self.simulation)

    def finish(self) -> None:
        """Run until every request has ended."""
        self._drive(math.inf)
        self.simulation.finish()

    def _drive(self, until: float) -> None:
        simulation = self.simulation
        while not simulation.ended and simulation.now < until:
            if math.isinf(self.period):
                simulation.advance(until)
                if math.isinf(until):
                    return
                continue
            tick = (math.floor(simulation.now / self.period + 1e-9) + 1) * self.period
            if simulation.advance(min(tick, until)) or simulation.now < tick - 1e-9:
                continue
            self._decide()
            if self._nothing_left():
                return

    def _nothing_left(self) -> bool:
        """Guard against a run that cannot end: requests wait for capacity that no policy ever starts."""
        world = self.simulation.core.world[0]
        idle_for = self.simulation.now - max(float(world["last_end"]), self.simulation.workload.duration)
        return idle_for > 100_000.0

    def _decide(self) -> None:
        began = time.perf_counter()
        if self.scale is not None:
            self._scale()
        else:
            self._assign()
        self.thinking += time.perf_counter() - began
        self.thoughts += 1

    def _scale(self) -> None:
        now = self.simulation.now
        seen = self.platform.observe()
        if self._delay > 0.0:
            self._pending.append((now, seen))
            ready = [each for each in self._pending if each[0] <= now - self._delay]
            if not ready:
                return
            seen = ready[-1][1]
            self._pending = [each for each in self._pending if each[0] >= ready[-1][0]]
        for index, metrics in enumerate(seen):
            desired, self._states[index] = self.guard.decide(metrics, self._states[index], now)
            self.changes += self.platform.act(index, desired)

    def _assign(self) -> None:
        slots, tasks, current = self.platform.tasks()
        if len(slots) == 0:
            return
        plan = np.asarray(self.assign.plan(tasks, self.platform.hosts(), current))
        if plan.shape != current.shape or plan.dtype.kind not in "iu":
            raise TrimtabError(
                f"policy {self.assign.name!r} returned a plan of {plan.shape} {plan.dtype} values, "
                f"must be one whole number for each of {len(slots)} tasks"
            )
        self.refused += self.simulation.assign(slots, plan.astype(np.int32))

    def meters(self) -> dict[str, float]:
        """Figures of the control loop."""
        hours = max(self.simulation.now, 1e-9) / 3600.0
        if self.scale is not None:
            self.platform.bill()
            found = {"changes_per_hour": self.changes / hours, "core_seconds": self.platform.core_seconds}
            if self.platform.resizes:
                found["resizes_per_hour"] = self.platform.resizes / hours
            return found
        if self.assign is not None:
            world = self.simulation.core.world[0]
            return {"migrations": float(world["migrations"]), "refused_assignments": float(self.refused)}
        return {}

    def notes(self) -> list[str]:
        """What a reader must know of this run."""
        found = []
        if self.scale is not None:
            found += [f"guard: {reason}, {count} times" for reason, count in sorted(self.guard.events.items())]
        if self.refused:
            found.append(f"{self.refused} assignments were not feasible and were not carried out")
        waiting = int((self.simulation.core.results["status"] == records.PENDING).sum())
        if waiting:
            found.append(f"{waiting} requests never ended, and count as failed")
        return found
