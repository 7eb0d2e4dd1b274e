"""Before training: what features look like, which static policy is best, and what it reaches by demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.control.windows import feature_names
from trimtab.learn.aset_episode import Episode, Step, loaded, policies_of, shortened
from trimtab.learn.recipe import TRAINING_SEEDS
from trimtab.policies.select.contract import Expectation, State
from trimtab.scenario.model import Scenario

Array = npt.NDArray[Any]

WORKLOADS = 4
"""On which the static policies are run first."""
SECONDS = 480.0
_SKIPPED = 12
"""Windows until streams have filled the system."""
_POINTS = 6
_LOADS = (1 / 3, 2 / 3, 1.0, 4 / 3, 5 / 3)
"""Times the scenario's own load, at which the best static policies are held against each other."""
_RIVALS, _FALLBACK_WORKLOADS = 2, 12
_FALLBACK_SEED = TRAINING_SEEDS + 60_000
_JUDGED = np.full(12, 1 / 12)
"""Weights of a mean over as many windows as the guard judges a selector by."""


@dataclass(frozen=True)
class Calibration:
    """What the static policies showed."""

    mean: Array
    scale: Array
    success: dict[str, float]
    """Rate of each static policy."""
    expectations: dict[str, Expectation]
    """What each of them reaches."""

    @property
    def ranking(self) -> tuple[str, ...]:
        """The static policies, best first."""
        return tuple(sorted(self.success, key=lambda name: -self.success[name]))

    def normal(self, features: Array) -> Array:
        """Features with mean 0 and deviation 1."""
        return np.asarray((features - self.mean) / self.scale, np.float32)


class Ground:
    """What learners of one scenario have in common: policies, features, calibration, episodes."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario, self.policies = scenario, policies_of(scenario)
        self.names, self.features = tuple(self.policies), feature_names(scenario)

    @cached_property
    def calibration(self) -> Calibration:
        """What the static policies do, measured when it is first needed."""
        seeds = [TRAINING_SEEDS + each for each in range(WORKLOADS)]
        return calibrate(shortened(self.scenario, SECONDS), self.policies, seeds, SECONDS)

    @cached_property
    def fallback(self) -> str:
        """The static policy that does best over a range of loads: the guard needs it most where training was not."""
        rivals = self.calibration.ranking[:_RIVALS]
        seeds = [_FALLBACK_SEED + each for each in range(_FALLBACK_WORKLOADS)]
        grounds = [loaded(shortened(self.scenario, SECONDS), times) for times in _LOADS]
        means = {
            name: _success([_run(each, seed, self.policies, name, SECONDS) for each in grounds for seed in seeds])
            for name in rivals
        }
        return max(rivals, key=lambda name: means[name])

    def episode(self, training: int, number: int, seconds: float, threshold: float, beyond: float = 0.0) -> Episode:
        """An episode on a workload of its own: none that calibrated, none of another training seed."""
        seed = TRAINING_SEEDS + WORKLOADS + 100_000 * training + number
        return Episode(shortened(self.scenario, seconds + beyond), seed, self.policies, seconds, threshold)

    def seeds(self) -> dict[str, Any]:
        """For ``policy.json``."""
        return {
            "scenarios": [self.scenario.name],
            "calibration_seeds": [TRAINING_SEEDS, TRAINING_SEEDS + WORKLOADS - 1],
            "seeds": f"from {TRAINING_SEEDS + WORKLOADS} + 100,000 × training seed on, one an episode",
        }


def calibrate(scenario: Scenario, policies: dict[str, Any], seeds: list[int], seconds: float) -> Calibration:
    """Run every static policy on the same workloads."""
    runs = {name: [_run(scenario, seed, policies, name, seconds) for seed in seeds] for name in policies}
    rows = np.stack([step.features for each in runs.values() for run in each for step in run])
    scale = rows.std(0)
    return Calibration(
        rows.mean(0).astype(np.float32),
        np.where(scale > 1e-6, scale, 1.0).astype(np.float32),
        {name: _success(each) for name, each in runs.items()},
        {name: _expectation(each) for name, each in runs.items()},
    )


def _success(runs: list[list[Step]]) -> float:
    return float(np.mean([step.outcome.success for run in runs for step in run]))


def _run(scenario: Scenario, seed: int, policies: dict[str, Any], name: str, seconds: float) -> list[Step]:
    return play(Episode(scenario, seed, policies, seconds, threshold=0.0), lambda state, now: name)


def play(episode: Episode, choose: Callable[[State, float], str]) -> list[Step]:
    """An episode to its end, less the windows until streams have filled the system."""
    state = State("", episode.first, np.zeros(0), 0.0)
    steps: list[Step] = []
    while not steps or not (steps[-1].truncated or steps[-1].terminated):
        chosen = choose(state, episode.simulation.now)
        steps.append(episode.step(chosen))
        state = State(chosen, steps[-1].features, np.zeros(0), steps[-1].demand)
    return steps[_SKIPPED:] or steps


def _expectation(runs: list[list[Step]]) -> Expectation:
    """A straight line of success over demand, between the smallest and the largest demand that was seen."""
    demand = np.array([step.demand for run in runs for step in run])
    success = np.array([step.outcome.success for run in runs for step in run])
    # two ends in any case: a demand that never changed still has a neighbourhood
    points = np.linspace(demand.min() - 1e-3, demand.max() + 1e-3, _POINTS)
    slope, height = np.polyfit(demand, success, 1) if demand.std() > 1e-6 else (0.0, success.mean())
    means = [np.convolve(height + slope * _of(run, "demand") - _of(run, "success"), _JUDGED, "valid") for run in runs]
    return Expectation(
        tuple(points.tolist()), tuple((height + slope * points).tolist()), float(np.concatenate(means).std())
    )


def _of(run: list[Step], what: str) -> Array:
    return np.array([step.demand if what == "demand" else step.outcome.success for step in run])
