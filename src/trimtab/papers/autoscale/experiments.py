"""The slides' experiments: horizontal and vertical learning, and the learned policies beside the naive rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.papers.autoscale import reported
from trimtab.papers.claim import NotTestable
from trimtab.papers.effort import Effort
from trimtab.papers.learned import NOT_TRAINED, Learned, learn, shipped
from trimtab.papers.runs import Runner, scenario_of, team_of
from trimtab.report.sampling import quantile_by_window, thin, windows
from trimtab.report.summary import Figures, figures_of
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import COMPLETED, Outcome

SCENARIO = "autoscale-fibonacci"
HORIZONTAL, VERTICAL, TABLE = "dqn", "dqn-vertical", "q-table"
LATENCY = ("latency_p99", "latency_p95", "tail_latency", "p99", "p95", "latency")
"""Names under which a learning curve may hold tail latency, in seconds."""
INSTANCES = ("instances", "mean_instances", "containers")
CPU = ("cpu", "cpu_cores", "cpu_limit", "cores")
"""Cores of one instance."""
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

    def of(self, policy: str, figure: str) -> dict[int, float]:
        """A figure of a policy by seed; a learned one may be missing."""
        if policy not in self.runs:
            raise NotTestable(NOT_TRAINED)
        return {seed: float(each.figures[figure]) for seed, each in self.runs[policy].items()}


def run_all(effort: Effort, runner: Runner) -> Results:
    """Train where asked for, and run the naive rules, HPA and the learned policies."""
    scenario = scenario_of(SCENARIO, effort.overrides)
    learned = {name: _learned(effort, runner, scenario, name) for name in (HORIZONTAL, VERTICAL, TABLE)}
    entrants = team_of(scenario, [*reported.THRESHOLDS, "hpa"])
    entrants += [found for each in learned.values() if (found := each.entrant(scenario)) is not None]
    runs: dict[str, dict[int, Sample]] = {}
    for outcome in runner.each(scenario, entrants, effort.seeds):
        runs.setdefault(outcome.policy, {})[outcome.seed] = sample(outcome)
    return Results(effort.seeds, scenario.functions[0].deadline or 0.0, runs, learned)


def _learned(effort: Effort, runner: Runner, scenario: Scenario, name: str) -> Learned:
    if effort.train:
        found = learn(runner, "scale", name, scenario, effort.budget)
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
