"""The paper's experiments on our presets: two clusters, ten workloads, one learned policy for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from trimtab.control.run import build_team, run
from trimtab.papers.claim import NotTestable
from trimtab.papers.effort import Effort
from trimtab.papers.faasrank import reported
from trimtab.papers.learned import NOT_TRAINED, Learned, learn, shipped
from trimtab.papers.runs import Runner, scenario_of, team_of
from trimtab.sim.outcome import COMPLETED, Outcome
from trimtab.workload.assemble import assemble
from trimtab.workload.build import build_workload

CLUSTERS = {"canada": "faasrank-canada", "aws": "faasrank-aws"}
MULTI_SCENARIO = "faasrank-aws"
"""Where the policy for many workloads is trained: the paper used the AWS cluster."""
_SPACING = 600.0
"""Seconds between two lone invocations: more than any takes, less than would evict a container."""

SENSITIVITIES: dict[str, tuple[str, ...]] = {
    "as published here: model P, ten managed invokers": (),
    "nine of ten invokers managed (OpenWhisk's default)": ("platform.managed_share=0.9",),
    "warm containers of all functions counted": ("platform.warm_counts=all",),
    "invoker model A: one core a request, no contention": ("model=A",),
    "invoker model G: A with hyper-threads and one creation at a time": ("model=G",),
}


@dataclass(frozen=True)
class Results:
    """All runs of the paper's experiments."""

    seeds: tuple[int, ...]
    runs: dict[str, dict[str, dict[int, Outcome]]]
    """Scenario → policy → seed."""
    learned: dict[str, Learned]
    """``canada``, ``aws``, ``multi``."""
    alone: dict[str, tuple[float, float, float, float]]
    """Function → megabytes, seconds of a lone cold and a lone warm invocation, of initialisation."""
    loads: dict[str, dict[str, float]]
    """Row of Table III → ``calls``, ``cpu_s``, ``gap_s``: means over seeds of what was drawn."""
    sensitivity: dict[str, dict[str, dict[int, float]]] = field(default_factory=dict)
    """Setting → policy → seed → mean completion time on the Canada cluster."""

    def of(self, scenario: str, policy: str) -> dict[int, Outcome]:
        """The runs of a policy; a learned one may be missing."""
        found = self.runs[scenario].get(policy)
        if found is None:
            raise NotTestable(NOT_TRAINED)
        return found

    def fct(self, scenario: str, policy: str) -> dict[int, float]:
        """Mean completion time by seed."""
        return {seed: mean_fct(outcome) for seed, outcome in self.of(scenario, policy).items()}

    def function_fct(self, scenario: str, policy: str, seeds: Sequence[int]) -> dict[str, float]:
        """Mean completion time by function over these seeds, every invocation counted once."""
        found = self.of(scenario, policy)
        names = next(iter(found.values())).functions
        seconds, calls = np.zeros(len(names)), np.zeros(len(names))
        for seed in seeds:
            answered = found[seed].status == COMPLETED
            owner = found[seed].function[answered]
            seconds += np.bincount(owner, weights=found[seed].fct[answered], minlength=len(names))
            calls += np.bincount(owner, minlength=len(names))
        return {name: float(total / count) for name, total, count in zip(names, seconds, calls) if count}


def mean_fct(outcome: Outcome) -> float:
    """Mean completion time of what was answered; all is, in these scenarios."""
    return float(outcome.fct[outcome.status == COMPLETED].mean())


def run_all(effort: Effort, runner: Runner) -> Results:
    """Train where asked for, and run the six schedulers on the two clusters and the ten workloads."""
    learned = _learned(effort, runner)
    runs = {}
    for name, load in reported.TABLE_3.items():
        policy = learned["multi"] if name in reported.MULTI else learned["canada" if name == "SC" else "aws"]
        runs[load.scenario] = _scenario(effort, runner, load.scenario, policy)
    alone = {} if effort.overrides else lone_invocations()
    loads = {name: _load(load.scenario, effort) for name, load in reported.TABLE_3.items()}
    return Results(effort.seeds, runs, learned, alone, loads, _sensitivity(effort, runner, learned["canada"]))


def _learned(effort: Effort, runner: Runner) -> dict[str, Learned]:
    def one(key: str, scenario: str, own: bool) -> Learned:
        if effort.train:
            found = learn(runner, "place", "faasrank", scenario_of(scenario, effort.overrides), effort.budget)
            if found.folder is not None:
                return found
        return shipped("place", "faasrank", scenario if own else None)

    found = {cluster: one(cluster, scenario, True) for cluster, scenario in CLUSTERS.items()}
    return found | {"multi": one("multi", "faasrank-m1", False)}


def _scenario(effort: Effort, runner: Runner, name: str, policy: Learned) -> dict[str, dict[int, Outcome]]:
    scenario = scenario_of(name, effort.overrides)
    entrant = policy.entrant(scenario)
    entrants = [*team_of(scenario, reported.BASELINES), *([entrant] if entrant is not None else [])]
    found: dict[str, dict[int, Outcome]] = {}
    for outcome in runner.each(scenario, entrants, effort.seeds):
        found.setdefault(outcome.policy, {})[outcome.seed] = outcome
    return found


def _sensitivity(effort: Effort, runner: Runner, policy: Learned) -> dict[str, dict[str, dict[int, float]]]:
    if not effort.wide:
        return {}
    found: dict[str, dict[str, dict[int, float]]] = {}
    for setting, changes in SENSITIVITIES.items():
        scenario = scenario_of(CLUSTERS["canada"], (*effort.overrides, *changes))
        entrant = policy.entrant(scenario)
        entrants = [*team_of(scenario, reported.BASELINES), *([entrant] if entrant is not None else [])]
        for outcome in runner.each(scenario, entrants, effort.seeds):
            found.setdefault(setting, {}).setdefault(outcome.policy, {})[outcome.seed] = mean_fct(outcome)
    return found


def _load(name: str, effort: Effort) -> dict[str, float]:
    scenario = scenario_of(name, effort.overrides)
    drawn = [build_workload(scenario, seed) for seed in effort.seeds]
    gaps = [float(each.arrival[-1] - each.arrival[0]) / max(len(each) - 1, 1) for each in drawn]
    return {
        "calls": float(np.mean([len(each) for each in drawn])),
        "cpu_s": float(np.mean([each.work.sum() for each in drawn])),
        "gap_s": float(np.mean(gaps)),
    }


def lone_invocations() -> dict[str, tuple[float, float, float, float]]:
    """Every function called twice on an idle AWS cluster: the first call is cold, the second warm (Table II)."""
    scenario = scenario_of(CLUSTERS["aws"], ["functions.*.work_deviation=0", "platform.keep_alive.seconds=3600"])
    count = len(scenario.functions)
    arrival = np.arange(2 * count, dtype=np.float64) * _SPACING
    workload = assemble(scenario, arrival, np.repeat(np.arange(count, dtype=np.int32), 2), 2 * count * _SPACING, 1)
    times = run(scenario, workload, 1, build_team(scenario, "place", "hashing"), "hashing").fct
    return {
        each.name: (each.memory / 2**20, float(times[2 * index]), float(times[2 * index + 1]), each.init)
        for index, each in enumerate(scenario.functions)
    }


def normalised(ours: Mapping[int, float], base: Mapping[int, float], seeds: Sequence[int]) -> float:
    """Mean of one over the mean of the other, over these seeds, in percent."""
    return 100.0 * sum(ours[seed] for seed in seeds) / sum(base[seed] for seed in seeds)
