"""The slides' experiments: horizontal and vertical learning, and the learned policies beside the naive rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.papers.autoscale import reported
from trimtab.papers.effort import Effort
from trimtab.papers.learned import Learned, learn, missing, shipped
from trimtab.papers.runs import Runner, scenario_of, team_of
from trimtab.report.sampling import quantile_by_window, thin, windows
from trimtab.report.summary import Figures, figures_of
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import COMPLETED, Outcome

SCENARIO, RESIZABLE = "autoscale-fibonacci", "autoscale-boost"
"""Where instances come and go; where their CPU changes in place."""
HORIZONTAL, VERTICAL, TABLE = "dqn", "dqn-vertical", "q-table"
LATENCY, INSTANCES, CORES, REWARD = "p95_s", "instances", "cores", "reward"
"""Figures of an episode: 95th percentile of latency, mean instances, mean cores of all of them, mean reward."""
_WINDOWS = 120


@dataclass(frozen=True)
class Sample:
    """What is kept of a run of a million requests."""

    figures: Figures
    instances: tuple[list[float], list[float]]
    """Time and instances."""
    latency: tuple[list[float], list[float]]
    """Time and 99th percentile of completion time."""


@dataclass(frozen=True)
class Results:
    """All runs."""

    seeds: tuple[int, ...]
    objective: float
    """The deadline of a request, in seconds: the quality of service that is asked for."""
    runs: dict[str, dict[int, Sample]]
    learned: dict[str, Learned]

    def curve(self, policy: str, figure: str) -> list[float]:
        """A figure of the learning curve, by episode."""
        return self.learned[policy].column(figure)

    def millicores(self, policy: str) -> list[float]:
        """Millicores of one instance, by episode."""
        pairs = zip(self.curve(policy, CORES), self.curve(policy, INSTANCES))
        return [1000.0 * cores / max(count, 1e-9) for cores, count in pairs]

    def of(self, policy: str, figure: str) -> dict[int, float]:
        """A figure of a policy by seed; a learned one may be missing."""
        if policy not in self.runs:
            raise missing([self.learned[policy]])
        return {seed: float(each.figures[figure]) for seed, each in self.runs[policy].items()}


def run_all(effort: Effort, runner: Runner) -> Results:
    """Train where asked for, and run the naive rules, HPA and the learned policies."""
    scenario, resizable = scenario_of(SCENARIO, effort.overrides), scenario_of(RESIZABLE, effort.overrides)
    grounds = {HORIZONTAL: scenario, VERTICAL: resizable, TABLE: scenario}
    learned = {name: _learned(effort, runner, ground, name) for name, ground in grounds.items()}
    runs: dict[str, dict[int, Sample]] = {}
    for ground in (scenario, resizable):
        entrants = team_of(ground, [*reported.THRESHOLDS, "hpa"]) if ground is scenario else []
        mine = [learned[name] for name in grounds if grounds[name] is ground]
        entrants += [found for each in mine if (found := each.entrant(ground)) is not None]
        for outcome in runner.each(ground, entrants, effort.seeds):
            runs.setdefault(outcome.policy, {})[outcome.seed] = sample(outcome)
    return Results(effort.seeds, scenario.functions[0].deadline or 0.0, runs, learned)


def _learned(effort: Effort, runner: Runner, scenario: Scenario, name: str) -> Learned:
    if effort.train:
        policy, recipe = (HORIZONTAL, "paper-vertical") if name == VERTICAL else (name, "paper")
        found = learn(runner, "scale", policy, scenario, recipe_name=recipe, budget=effort.budget, name=name)
        if found.folder is not None:
            return found
    return shipped("scale", name, scenario.name)


def sample(outcome: Outcome) -> Sample:
    """Figures, and two curves over time."""
    series = outcome.series
    time, values = thin(series["time"], series["instances"], 400)
    answered = outcome.status == COMPLETED
    points: tuple[list[float], list[float]] = ([], [])
    if answered.any():
        middles, window = windows(outcome.arrival[answered], _WINDOWS)
        points = _known(middles, quantile_by_window(outcome.fct[answered], window, _WINDOWS, 0.99))
    return Sample(figures_of(outcome), (time.tolist(), values.tolist()), points)


def _known(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> tuple[list[float], list[float]]:
    kept = np.isfinite(y)
    return x[kept].tolist(), y[kept].tolist()
