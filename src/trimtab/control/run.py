"""One policy on one seed: builds the simulation, drives its decisions, and collects the outcome."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from trimtab.control.assign_selecting import AssignSelectLoop
from trimtab.control.assigning import AssignLoop
from trimtab.control.feed import MetricsFeed
from trimtab.control.fitting import check_fit
from trimtab.control.guards import ScaleGuard
from trimtab.control.scale_cost import core_price
from trimtab.control.scale_selecting import ScaleSelectLoop
from trimtab.control.selecting import Selection, SelectLoop, build_selection
from trimtab.control.simulated import SimulatedPlatform
from trimtab.control.ticks import Ticks, is_hopeless
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


_DECIDE, _SELECT = 0, 1
"""Clocks of a run: scale or assign, and select; further ones are those of scale policies to select from."""


@dataclass
class Team:
    """Who takes which decision in a run."""

    policies: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, decision: str) -> Any:
        return self.policies.get(decision)

    def copy(self) -> Team:
        """The same policies, those that keep state of their own copied: runs must not share it."""
        return Team({name: _own(name, each) for name, each in self.policies.items()})


def _own(decision: str, policy: Any) -> Any:
    if isinstance(policy, Selection):
        return policy.copy()
    return copy.deepcopy(policy) if decision == "assign" else policy


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
    if decision == "select":
        selection = build_selection(scenario, name, parameters)
        check_fit(scenario, [selection])
        team = _team(scenario, scenario.decision, lambda: selection.fallback)
        team.policies["select"] = selection
        return team
    given = dict(scenario.parameters.get(name, {})) | (parameters or {})
    team = _team(scenario, decision, lambda: registry.load(decision, name, given or None, scenario.name))
    check_fit(scenario, team.policies.values())
    return team


def _team(scenario: Scenario, decision: str, judged: Callable[[], Any]) -> Team:
    """Whoever is judged, and the others; loaded once it is clear that the scenario asks for the decision."""
    team = Team()
    needed = decisions_of(scenario)
    if decision not in needed:
        raise TrimtabError(f"decision = {decision!r}, this scenario has: {', '.join(needed)}")
    for each in needed:
        if each == decision:
            team.policies[each] = judged()
        else:
            other = _other(scenario, each)
            team.policies[each] = registry.load(each, other, scenario.parameters.get(other), scenario.name)
    return team


def _other(scenario: Scenario, decision: str) -> str:
    """Who takes a decision that is not the one judged: whom the scenario names, or the usual one."""
    if decision == "place" and scenario.platform.instances == "controlled":
        # instances are placed before they have requests: by requests in flight all new ones went to one host
        usual = "round-robin"
    else:
        usual = _DEFAULTS[decision]
    return str(scenario.policies.get(decision, usual))  # type: ignore[call-overload]


def run(
    scenario: Scenario,
    workload: Workload,
    seed: int,
    team: Team,
    label: str,
    stop: Callable[[], bool] = lambda: False,
    measured: bool = False,
) -> Outcome:
    """Run one policy on one seed to the end of every request.

    ``measured``: schedulers take, and are charged for, the time that they really run.
    """
    began = time.perf_counter()
    simulation = Simulation(scenario, workload, seed, place=team["place"], route=team["route"], stop=stop)
    driver = Driver(scenario, simulation, team, seed, measured)
    baseline = driver.warm_up(workload.warm_up)
    driver.finish()
    wall = time.perf_counter() - began
    outcome = collect(simulation, label, baseline, wall)
    outcome.notes.extend(driver.notes())
    outcome.meters.update(driver.meters())
    _add_up(outcome.meters)
    if driver.chooser is not None:
        outcome.bands.extend(driver.chooser.bands)
        outcome.estimates.extend(getattr(driver.chooser, "estimates", ()))
    if driver.thoughts:
        return replace(outcome, decisions=driver.thoughts, decision_seconds=driver.thinking)
    return replace(outcome, decision_seconds=decision_seconds(simulation) * outcome.decisions)


def _add_up(meters: dict[str, float]) -> None:
    """What schedulers were paid, and a selector's power, count too; where tasks are assigned, a core-hour's cost."""
    if "cost_usd" in meters:
        meters["cost_usd"] += meters.get("scheduling_usd", 0.0)
    if "energy_kwh" in meters:
        meters["energy_kwh"] += meters.get("scheduling_kwh", 0.0)
    if "instances_usd" in meters:
        meters["scaling_usd"] = meters["instances_usd"] + meters.get("violations_usd", 0.0)
    if meters.get("work_done", 0.0) > 0.0 and "cost_usd" in meters:
        meters["usd_per_core_hour"] = meters["cost_usd"] / (meters["work_done"] / 3600.0)


class Driver:
    """Takes the decisions that are made outside the engine, each at its own time."""

    def __init__(
        self, scenario: Scenario, simulation: Simulation, team: Team, seed: int, measured: bool = False
    ) -> None:
        self.simulation, self.scenario = simulation, scenario
        self.platform = SimulatedPlatform(simulation)
        self.scale = team["scale"]
        self.assign: AssignLoop | None = None
        self.changes = 0
        self.thinking, self.thoughts = 0.0, 0
        self._states: list[Any] = [None] * len(simulation.deployed)
        control = scenario.control
        self._feed = MetricsFeed(self.platform, control.metrics_delay)
        if self.scale is not None:
            self.guard = ScaleGuard(
                self.scale, control.minimum, control.maximum, control.cpu_minimum, control.cpu_maximum
            )
            self.period = control.period or self.scale.period
        elif team["assign"] is not None:
            team["assign"].reset(seed)
            self.assign = AssignLoop(self.platform, team["assign"], measured=measured)
            self.period = control.interval
        else:
            self.period = math.inf
        self.select: SelectLoop | None = None
        self.scaler: ScaleSelectLoop | None = None
        self.planner: AssignLoop | AssignSelectLoop | None = self.assign
        if team["select"] is not None and self.assign is not None:
            self.planner = AssignSelectLoop(team["select"], self.assign, seed)
        elif team["select"] is not None and team["select"].situation.decision == "scale":
            self.scaler = ScaleSelectLoop(team["select"], self.platform, seed)
        elif team["select"] is not None:
            self.select = SelectLoop(team["select"], simulation, seed)
        further = self.scaler.periods if self.scaler is not None else ()
        self.period = min((self.period, *further)) if further else self.period
        self._ticks = Ticks(simulation, self.period, self.select.period if self.select else math.inf, *further)

    @property
    def chooser(self) -> SelectLoop | AssignSelectLoop | ScaleSelectLoop | None:
        """Who asks the selector, if there is one."""
        return self.planner if isinstance(self.planner, AssignSelectLoop) else self.scaler or self.select

    def warm_up(self, until: float) -> dict[str, float]:
        """Run through the warm-up; returns the meters at its end, to be taken off."""
        if until <= 0.0:
            return {}
        self.drive(until)
        self.platform.bill()
        self.platform.core_seconds = 0.0
        return readings(self.simulation)

    def finish(self) -> None:
        """Run until every request has ended."""
        self.drive(math.inf)
        self.simulation.finish()

    def drive(self, until: float) -> None:
        """Run until a time, the end, or a placement or routing that is asked outside."""
        simulation = self.simulation
        while not simulation.ended and simulation.now < until:
            due = self.assign.due if self.assign is not None else math.inf
            ticks = self._ticks.run(min(until, due))
            arrived = simulation.now >= due
            if arrived and self.assign is not None:
                self.assign.apply()
            if any(clock != _SELECT for clock in ticks):
                self._decide()
            if _SELECT in ticks and self.select is not None:
                self._select(self.select)
            idle = not ticks and not arrived
            if simulation.asks or (idle and math.isinf(until)) or is_hopeless(simulation):
                return

    def _decide(self) -> None:
        began = time.perf_counter()
        if self.scaler is not None:
            self.scaler.tick()
        elif self.scale is not None:
            self._scale()
        elif self.planner is not None:
            self.planner.tick()
        self.thinking += time.perf_counter() - began
        self.thoughts += 1

    def _select(self, loop: SelectLoop) -> None:
        began = time.perf_counter()
        if loop.tick():
            self.thinking += time.perf_counter() - began
            self.thoughts += 1

    def _scale(self) -> None:
        now = self.simulation.now
        for index, metrics in enumerate(self._feed.observe(now) or ()):
            desired, self._states[index] = self.guard.decide(metrics, self._states[index], now)
            self.changes += self.platform.act(index, desired)

    def meters(self) -> dict[str, float]:
        """Figures of the control loop."""
        hours = max(self.simulation.now, 1e-9) / 3600.0
        if self.scale is not None:
            self.platform.bill()
            changes = self.changes if self.scaler is None else self.scaler.changes
            found = {"changes_per_hour": changes / hours, "core_seconds": self.platform.core_seconds}
            if self.scenario.violation_price > 0.0:
                found["instances_usd"] = self.platform.core_seconds * core_price(self.scenario)
            if self.scaler is not None:
                found |= self.scaler.meters()
            if self.platform.resizes:
                found["resizes_per_hour"] = self.platform.resizes / hours
            return found
        found = self.assign.meters() if self.assign is not None else {}
        return found | (self.planner.meters() if self.planner is not None else {})

    def notes(self) -> list[str]:
        """What a reader must know of this run."""
        found = []
        if self.scale is not None:
            found += [f"guard: {reason}, {count} times" for reason, count in sorted(self.guard.events.items())]
        if self.chooser is not None:
            found += self.chooser.notes()
        if self.assign is not None:
            found += self.assign.notes()
        waiting = int((self.simulation.core.results["status"] == records.PENDING).sum())
        if waiting:
            found.append(f"{waiting} requests never ended, and count as failed")
        return found
