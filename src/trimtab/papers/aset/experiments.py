"""The paper's experiments: three topologies, a sweep of client rates, and rates that change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trimtab.papers.aset import reported
from trimtab.papers.claim import NotTestable
from trimtab.papers.effort import Effort
from trimtab.papers.learned import Learned, learn, missing, shipped
from trimtab.papers.runs import Runner, scenario_of, team_of
from trimtab.policies import registry
from trimtab.report.groups import PARTS, part_of, parts_by_function
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome

TOPOLOGIES = ("dc-cloud", "co-dc-cloud", "full-edge")
DYNAMIC = "full-edge-dynamic"
SWITCHING = "random"
"""A control: a selector that switches at random."""
WINDOW = 20.0
"""Seconds of a point in the figures over time."""

Setting = tuple[str, int]
"""Topology and clients a minute; 0 where they change."""


@dataclass(frozen=True)
class Sample:
    """What is kept of a run of a million queries."""

    queries: int
    shares: dict[str, float]
    """Of ``PARTS``: success, late, inaccurate, failed, rejected."""
    applications: dict[str, float]
    """Success by application."""
    good: npt.NDArray[np.int64]
    total: npt.NDArray[np.int64]
    """Successful and all queries, by window of arrival."""
    rate: float
    """Queries a second."""
    bands: list[tuple[float, str]]
    """Which policy a selector used, and from when."""

    @property
    def failed(self) -> float:
        """Served, but in violation of a requirement: the paper's failure ratio."""
        return self.shares["late"] + self.shares["inaccurate"] + self.shares["failed"]


@dataclass(frozen=True)
class Results:
    """All runs."""

    seeds: tuple[int, ...]
    runs: dict[Setting, dict[str, dict[int, Sample]]]
    learned: dict[str, Learned]
    """The agent of each topology."""
    begin: float
    """When measuring begins, in simulated seconds."""

    def of(self, setting: Setting, policy: str) -> dict[int, Sample]:
        """The runs of a policy; the agent may be missing."""
        if setting not in self.runs:
            raise NotTestable(f"{setting[0]} was not run at {setting[1]} clients a minute, to be quick")
        found = self.runs[setting].get(policy)
        if found is None:
            raise missing(self.learned.values())
        return found

    def success(self, setting: Setting, policy: str) -> dict[int, float]:
        """Success in percent, by seed."""
        return {seed: 100.0 * each.shares["success"] for seed, each in self.of(setting, policy).items()}

    def best_static(self, setting: Setting) -> str:
        """The static policy with the highest mean success: best in hindsight, on the very seeds it is compared on."""
        means = {name: float(np.mean(list(self.success(setting, name).values()))) for name in reported.STATIC}
        return max(means, key=means.__getitem__)

    def over_time(self, setting: Setting, policy: str) -> npt.NDArray[np.float64]:
        """Success in percent by window, all seeds together."""
        samples = self.of(setting, policy).values()
        good, total = sum(each.good for each in samples), sum(each.total for each in samples)
        return np.asarray(100.0 * good / np.maximum(total, 1), dtype=np.float64)


def settings(wide: bool) -> list[Setting]:
    """What is run, the cheap look first."""
    found = [(name, reported.RATE) for name in TOPOLOGIES]
    found += [("dc-cloud", reported.HIGHEST_RATE), (DYNAMIC, 0), ("full-edge", 20), ("full-edge", 100)]
    return found + ([("dc-cloud", 80), ("full-edge", 40), ("full-edge", 80)] if wide else [])


def run_all(effort: Effort, runner: Runner) -> Results:
    """Train where asked for, and run seven policies and the agent in every setting."""
    learned = {name: _agent(effort, runner, name) for name in TOPOLOGIES}
    runs: dict[Setting, dict[str, dict[int, Sample]]] = {}
    begin = 0.0
    for setting in settings(effort.wide):
        scenario = _scenario(effort, setting)
        begin = scenario.workload.warm_up
        agent = learned["full-edge" if setting[0] == DYNAMIC else setting[0]]
        runs[setting] = _runs(effort, runner, scenario, agent)
    return Results(effort.seeds, runs, learned, begin)


def _scenario(effort: Effort, setting: Setting) -> Scenario:
    topology, rate = setting
    return scenario_of(f"aset-{topology}", (*effort.overrides, *([f"workload.rate={rate}"] if rate else [])))


def _agent(effort: Effort, runner: Runner, topology: str) -> Learned:
    if effort.train:
        found = learn(runner, "select", "aset", _scenario(effort, (topology, reported.RATE)), budget=effort.budget)
        if found.folder is not None:
            return found
    return shipped("select", "aset", f"aset-{topology}")


def _runs(effort: Effort, runner: Runner, scenario: Scenario, agent: Learned) -> dict[str, dict[int, Sample]]:
    entrants = team_of(scenario, reported.STATIC)
    # without our guard: under it a fixed policy would decide in the agent's name
    entrant = agent.entrant(scenario, guard=False)
    if entrant is not None:
        entrants.append(entrant)
        if SWITCHING in registry.BUILT_IN["select"] and scenario.name == "aset-full-edge":
            entrants += team_of(scenario, [f"select/{SWITCHING}"])
    found: dict[str, dict[int, Sample]] = {}
    for outcome in runner.each(scenario, entrants, effort.seeds):
        found.setdefault(outcome.policy, {})[outcome.seed] = sample(outcome, scenario)
    return found


def sample(outcome: Outcome, scenario: Scenario) -> Sample:
    """Count what became of the queries, by part, application and window."""
    begin, end = scenario.workload.warm_up, _end(scenario, outcome)
    count = max(1, round((end - begin) / WINDOW))
    window = np.minimum(((outcome.arrival - begin) / WINDOW).astype(np.int64), count - 1)
    good = part_of(outcome) == 0
    parts = parts_by_function(outcome)
    queries = len(outcome.arrival)
    return Sample(
        queries,
        {part: float(parts[index].sum()) / max(queries, 1) for index, part in enumerate(PARTS)},
        _by_application(outcome.functions, parts),
        np.bincount(window, weights=good, minlength=count).astype(np.int64),
        np.bincount(window, minlength=count),
        queries / max(end - begin, 1e-9),
        list(outcome.bands),
    )


def _end(scenario: Scenario, outcome: Outcome) -> float:
    duration = getattr(scenario.workload, "duration", None)
    return float(outcome.arrival.max(initial=0.0)) if duration is None else float(duration)


def _by_application(names: tuple[str, ...], parts: npt.NDArray[np.int64]) -> dict[str, float]:
    totals: Mapping[int, int] = dict(enumerate(parts.sum(axis=0).tolist()))
    return {name: float(parts[0, index]) / totals[index] for index, name in enumerate(names) if totals[index]}
