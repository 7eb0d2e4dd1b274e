"""How long schedulers and selectors really take: measured in runs of their own, and fitted to the run-time model."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trimtab.control.run import Driver, Team
from trimtab.control.selecting import Selection, build_selection
from trimtab.errors import TrimtabError
from trimtab.policies import registry, trained
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.runtime import Runtime
from trimtab.policies.select.contract import AssignState, Situation, State, WindowOutcome
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import TasksSpec
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

LOADS = (0.5, 1.0, 2.5)
"""Times a scenario's own rate."""
_SEED = 900_000


@dataclass(frozen=True)
class Point:
    """One decision that was timed."""

    tasks: int
    hosts: int
    seconds: float


@dataclass
class TimedPolicy:
    """An assign policy with a clock: CPU seconds, which others on the machine do not change.

    What it does to watch an interval is part of its next decision.
    """

    policy: Any
    points: list[Point] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The policy's."""
        return str(self.policy.name)

    def reset(self, seed: int) -> None:
        """A run begins."""
        self.policy.reset(seed)
        self._watched = 0.0

    def watch(self, tasks: TaskTable, hosts: HostTable, now: float) -> None:
        """Passed on, for those that watch."""
        if hasattr(self.policy, "watch"):
            began = time.process_time()
            self.policy.watch(tasks, hosts, now)
            self._watched += time.process_time() - began

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """The policy's plan, timed."""
        began = time.process_time()
        plan: Ints = self.policy.plan(tasks, hosts, current)
        took = time.process_time() - began + self._watched
        self.points.append(Point(len(tasks.request), len(hosts.cores), took))
        self._watched = 0.0
        return plan


@dataclass
class TimedSelector:
    """A selector with a clock; what it learns from an interval is part of its next choice."""

    selector: Any
    points: list[Point] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.selector, name)

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins."""
        self.selector.reset(situation, seed)
        self._learned = 0.0

    def choose(self, state: State, now: float) -> str:
        """The selector's choice, timed."""
        assert isinstance(state, AssignState)
        began = time.process_time()
        chosen: str = self.selector.choose(state, now)
        took = time.process_time() - began + self._learned
        self.points.append(Point(len(state.tasks.request), len(state.hosts.cores), took))
        self._learned = 0.0
        return chosen

    def learn(self, outcome: WindowOutcome) -> None:
        """Passed on."""
        began = time.process_time()
        self.selector.learn(outcome)
        self._learned += time.process_time() - began


def subjects(scenario: Scenario) -> list[str]:
    """Who can be measured on a scenario: assign policies, and selectors that have weights to load."""
    found = list(registry.names("assign", scenario.name))
    for name in registry.LEARNED["select"]:
        there = trained.ships("select", name, scenario.name)
        if there and hasattr(registry.load("select", name, None, scenario.name), "size"):
            found.append(f"select/{name}")
    return found


def measured(scenario: Scenario, name: str, intervals: int) -> Iterator[Point]:
    """Every decision of a policy or selector in runs at several loads; nobody is charged for them."""
    if not isinstance(scenario.workload, TasksSpec):
        raise TrimtabError(f"scenario = {scenario.name!r}, schedulers are measured where tasks are assigned")
    # the first run is not counted: code is loaded and compiled in it; other seeds, because fits of a series are kept
    for number, load in enumerate((LOADS[0], *LOADS)):
        spec = scenario.workload.model_copy(update={"rate": scenario.workload.rate * load})
        loaded = scenario.model_copy(update={"workload": spec, "scheduling": None})
        team, points = _team(loaded, name)
        seed = _SEED + number
        driver = Driver(loaded, Simulation(loaded, build_workload(loaded, seed), seed), team, seed)
        driver.drive(intervals * loaded.control.interval)
        if number > 0:
            yield from points


def _team(scenario: Scenario, name: str) -> tuple[Team, list[Point]]:
    if not name.startswith("select/"):
        timed = TimedPolicy(registry.load("assign", name, None, scenario.name))
        return Team({"assign": timed}), timed.points
    selection = build_selection(scenario, name)
    selector = TimedSelector(selection.selector)
    # one that compares plans must have plans that differ
    compares = getattr(selection.selector, "compares", False)
    policies = selection.policies if compares else {each: _stand_in() for each in selection.policies}
    team = Team(
        {"assign": policies[selection.situation.fallback], "select": Selection(selector, policies, selection.situation)}
    )
    return team, selector.points


def _stand_in() -> Any:
    """Who plans while a selector is measured that does not look at plans."""
    return registry.load("assign", "first-fit")


def fitted(points: Sequence[Point]) -> tuple[Runtime, float]:
    """Coefficients from 0 on of least squares, and the mean error over the mean time."""
    from scipy.optimize import nnls

    seconds = np.array([point.seconds for point in points])
    tasks, hosts = (np.array([getattr(point, name) for point in points], float) for name in ("tasks", "hosts"))
    columns = np.stack([np.ones(len(points)), tasks, tasks * hosts], axis=1)
    scale = columns.max(0)
    found = nnls(columns / scale, seconds)[0] / scale
    error = np.abs(columns @ found - seconds).mean() / max(seconds.mean(), 1e-12)
    fixed, each, pair = (float(f"{value:.3g}") for value in found)
    return Runtime(fixed, each, pair), float(error)
