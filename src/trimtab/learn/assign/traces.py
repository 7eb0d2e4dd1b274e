"""What plans cost, seen in the simulator: the data on which the schedulers' networks are trained.

A scenario runs under a changing mix of simple assignments, at several loads, on seeds of training. Now and then the
run is branched: one of several plans is carried out in the branch, nobody arrives or moves any more, and it plays
until all tasks are done. What a host cost by then, and when its tasks ended, is one row each. Work is drawn, policies
see its mean: equal rows differ in what they cost, and that noise is real.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.control.simulated import SimulatedPlatform
from trimtab.errors import TrimtabError
from trimtab.learn.recipe import TRAINING_SEEDS
from trimtab.policies import registry
from trimtab.policies.assign.capacity import records
from trimtab.policies.assign.contract import HostTable, TaskTable
from trimtab.policies.assign.features import machine_columns, planned_edges
from trimtab.policies.assign.objective import JOULES
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import TasksSpec
from trimtab.sim.meters import meter_all
from trimtab.sim.records import COMPLETED
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

BEHAVIOURS = {
    "random": 0.08, "round-robin": 0.04, "first-fit": 0.22, "best-fit": 0.22, "least-loaded": 0.12, "cheap-fit": 0.32,
}  # fmt: skip
"""Who plans, each for a while, and how often: states of all kinds, most of them as a good scheduler meets them."""
_SWITCH = 15
"""Intervals until another one plans."""


@dataclass(frozen=True)
class Traces:
    """Rows of hosts with tasks under a plan, and rows of these tasks; a host's tasks follow one another."""

    state: Ints
    """Of each host row: in which state of the run it was met."""
    plan: Ints
    """Which of the plans that were tried in that state, in order over all states."""
    host: Ints
    machine: Floats
    """Columns of ``features.MACHINE``."""
    usd: Floats
    kwh: Floats
    violations: Floats
    seconds: Floats
    """Until the host has drained, waking included."""
    first: npt.NDArray[np.int64]
    """Index of the host's first task row."""
    count: Ints
    """Tasks of the host."""
    task: Ints
    """Of each task row: which task it is, in its run."""
    edge: Floats
    """Columns of ``features.LOAD`` of the task on its host."""
    left: Floats
    """Seconds to its deadline; infinite where there is none."""
    ended: Floats
    """Seconds until it ended."""
    late: npt.NDArray[np.bool_]

    @property
    def load(self) -> Floats:
        """Of each host row: columns of ``features.LOAD``."""
        return np.add.reduceat(self.edge, self.first, axis=0)

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """Of each task row: index of its host row."""
        return np.repeat(np.arange(len(self.first)), self.count)


def collect(
    scenarios: Sequence[Scenario],
    states: int,
    seed: int = 0,
    loads: Sequence[float] = (0.6, 1.0, 1.7),
    plans: int = 4,
) -> Traces:
    """Meet about ``states`` states, evenly over scenarios and loads, and try ``plans`` plans in each."""
    runs = [(scenario, load) for scenario in scenarios for load in loads]
    each = max(states // len(runs), 1)
    parts: list[Traces] = []
    for number, (scenario, load) in enumerate(runs):
        lighter = at_load(scenario, load)
        run = _Run(lighter, TRAINING_SEEDS + 1000 * seed + number, plans, np.random.default_rng([seed, number]))
        parts += run.sampled(each)
    return joined(parts)


def at_load(scenario: Scenario, load: float) -> Scenario:
    """The scenario with ``load`` times as many tasks."""
    spec = scenario.workload
    if not isinstance(spec, TasksSpec) or not scenario.platform.hibernate:
        raise TrimtabError(
            f"scenario = {scenario.name!r}, must have workload.source = 'tasks' and platform.hibernate = true "
            "to learn what plans cost"
        )
    steps = tuple(step.model_copy(update={"rate": step.rate * load}) for step in spec.steps)
    changed = spec.model_copy(update={"rate": spec.rate * load, "steps": steps})
    return scenario.model_copy(update={"workload": changed})


def joined(parts: Sequence[Traces]) -> Traces:
    """One table of several, states, plans and task rows numbered on."""
    if not parts:
        raise TrimtabError("traces: no state with tasks was met, the workload must be longer or denser")
    offsets = {"state": 0, "plan": 0, "first": 0}
    columns: dict[str, list[npt.NDArray[np.generic]]] = {field.name: [] for field in fields(Traces)}
    for part in parts:
        for name, found in columns.items():
            values = getattr(part, name)
            found.append(values + offsets[name] if name in offsets else values)
        offsets["state"] += int(part.state[-1]) + 1
        offsets["plan"] += int(part.plan[-1]) + 1
        offsets["first"] += len(part.edge)
    return Traces(**{name: np.concatenate(found) for name, found in columns.items()})


class _Run:
    """One run that is branched now and then."""

    def __init__(self, scenario: Scenario, seed: int, plans: int, random: np.random.Generator) -> None:
        self.random, self.plans = random, plans
        workload = build_workload(scenario, seed)
        self.simulation = Simulation(scenario, workload, seed)
        self.interval, self.duration = scenario.control.interval, workload.duration
        self.policies = [registry.load("assign", name) for name in BEHAVIOURS]
        for policy in self.policies:
            policy.reset(seed)

    def _somebody(self) -> Any:
        return self.random.choice(self.policies, p=list(BEHAVIOURS.values()))

    def sampled(self, states: int) -> list[Traces]:
        """States at even distances in time, and what was found in each."""
        count = max(int(self.duration / self.interval), 1)
        wanted = set(np.linspace(count / (states + 1), count - 1, states).astype(int).tolist())
        found, platform, policy = [], SimulatedPlatform(self.simulation), self._somebody()
        for number in range(1, count):
            if number % _SWITCH == 1:
                policy = self._somebody()
            if self.simulation.advance(number * self.interval):
                break
            slots, tasks, current = platform.tasks()
            if len(slots) == 0:
                continue
            plan = policy.plan(tasks, platform.hosts(), current)
            if number in wanted:
                rows = list(self._tried(slots, tasks, platform.hosts(), current, plan))
                if rows:
                    found.append(_one_state(rows))
            self.simulation.assign(slots, plan.astype(np.int32))
        return found

    def _tried(
        self, slots: npt.NDArray[np.int64], tasks: TaskTable, hosts: HostTable, current: Ints, plan: Ints
    ) -> Iterator[Traces]:
        """The plan of the policy at hand, then perturbed ones of it and of another."""
        other = self._somebody().plan(tasks, hosts, current)
        for number in range(self.plans):
            base = plan if number % 2 == 0 else other
            chosen = base if number == 0 else perturbed(base, tasks, hosts, current, self.random)
            if np.any(chosen >= 0):
                yield played(self.simulation, slots, tasks, hosts, current, chosen)


def perturbed(plan: Ints, tasks: TaskTable, hosts: HostTable, current: Ints, random: np.random.Generator) -> Ints:
    """The plan with some tasks put elsewhere, as far as memory lasts: near others, anywhere, or piled on a few hosts.

    No good scheduler piles tasks up, and a network that never saw what comes of it would find it cheap.
    """
    _, machines, kept = records(tasks, hosts, current)
    changed = plan.copy()
    # what leaves a host this interval is not given to others, as the plan is carried out task by task
    free = machines["memory_free"].copy()
    fresh = (kept < 0) & (plan >= 0)
    np.subtract.at(free, plan[fresh], tasks.memory[fresh])
    moved = (plan >= 0) & (kept >= 0) & (plan != kept)
    np.subtract.at(free, plan[moved], tasks.memory[moved])
    share = random.choice([0.05, 0.2, 0.5])
    busy = np.unique(plan[plan >= 0])
    if random.random() < 0.4:
        busy = random.choice(busy, max(len(busy) // 8, 1), replace=False)
    for task in np.flatnonzero((random.random(len(plan)) < share) & tasks.movable & (plan >= 0)):
        among = busy if random.random() < 0.7 else np.arange(len(free))
        target = int(random.choice(among))
        if machines["usable"][target] and (target == kept[task] or free[target] >= tasks.memory[task]):
            if target != kept[task]:
                free[target] -= tasks.memory[task]
            changed[task] = target
    return changed


def played(
    simulation: Simulation, slots: npt.NDArray[np.int64], tasks: TaskTable, hosts: HostTable, current: Ints, plan: Ints
) -> Traces:
    """Carry out a plan in a branch without arrivals, and read what each host cost and when its tasks ended."""
    branch = simulation.branch()
    world = branch.core.world[0]
    world["requests"] = world["next_request"]
    meter_all(branch.core)
    before, now = branch.core.hosts[["on_seconds", "energy"]].copy(), branch.now
    branch.assign(slots, plan.astype(np.int32))
    branch.advance()
    meter_all(branch.core)
    after, span = branch.core.hosts, branch.now - now
    # a task whose move was refused is where it was
    results = branch.core.results[tasks.request]
    where = np.where(plan >= 0, results["host"], -1).astype(np.int32)
    seconds = after["on_seconds"] - before["on_seconds"]
    asleep = float(branch.core.world[0]["hibernated_power"]) * np.maximum(span - seconds, 0.0)
    order = np.argsort(where, kind="stable")
    order = order[where[order] >= 0]
    rows, first, count = np.unique(where[order], return_index=True, return_counts=True)
    late = results["late"].astype(np.bool_) | (results["status"] != COMPLETED)
    edges = planned_edges(tasks, hosts, current, where)
    return Traces(
        state=np.zeros(len(rows), np.int32),
        plan=np.zeros(len(rows), np.int32),
        host=rows.astype(np.int32),
        machine=machine_columns(hosts)[rows],
        usd=(seconds * hosts.price / 3600.0)[rows],
        kwh=((after["energy"] - before["energy"] - asleep) / JOULES)[rows],
        violations=np.add.reduceat(late[order].astype(np.float64), first),
        seconds=seconds[rows],
        first=first.astype(np.int64),
        count=count.astype(np.int32),
        task=tasks.request[order],
        edge=edges[order],
        left=(tasks.deadline - tasks.age)[order],
        ended=(results["completion"] - now)[order],
        late=late[order],
    )


def _one_state(rows: Sequence[Traces]) -> Traces:
    """Several plans of one state."""
    table = joined(rows)
    table.state[:] = 0
    return table
