"""Recipe of ``residual``: direct search for the weights that cost least at equal violations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.learn.recipe import TRAINING_SEEDS, Progress, State
from trimtab.learn.scale import episode
from trimtab.learn.scale.fluid import ALL, BIN, CHANGES, INSTANCE_SECONDS, LATE, play
from trimtab.learn.scale.search import Search
from trimtab.learn.scale.suite import Series, suite
from trimtab.policies.scale.staffing import FEATURES, MEMORY, TICK
from trimtab.policies.trained import Description, Trained
from trimtab.report.frontier import TARGETS, Point, at, envelope
from trimtab.scenario.model import Function, Scenario
from trimtab.workload.replace import peak_of

Floats = npt.NDArray[np.float64]

RANGES: dict[str, tuple[float, float, float]] = {
    # lowest, first, highest
    "poisson": (0.2, 0.5, 1.5),
    "volatility": (0.0, 0.05, 2.0),
    "rise": (0.0, 0.45, 2.0),
    "trend": (-0.5, -0.1, 1.5),
    "queue": (0.0, 0.01, 0.3),
    "constant": (-0.5, 1.1, 2.0),
    "fast": (1.0, 1.2, 8.0),
    "slow": (4.0, 7.0, 30.0),
    "band": (0.0, 1.9, 4.0),
    "down_delay": (8.0, 15.0, 40.0),
    "target": (-1.0, 2.4, 8.0),
    "target_slope": (0.2, 2.1, 4.0),
    "gain": (0.0, 0.7, 2.0),
    "prior": (60.0, 1300.0, 3600.0),
}
ASKED = (0.0001, 0.0003, 0.001, 0.005, 0.01, 0.05, 0.15)
"""Violation rates that are asked for in training."""
SQUARE_ROOT = (1.0, 0.0, 0.0, 0.0, 0.05, 0.0, 2.5, 15.0, 0.0, 15.0, 0.0, 0.0, 1.0, 20.0)
MARGINS = (-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0)
CHANGES_WANTED = 160.0
_UNREACHED = 0.5
_STRAY = 0.1
"""What it costs to miss a rate that was asked for by a factor of e beyond 1.4."""


def check(scenario: Scenario) -> Function:
    """The service that is learned: the scenario's first with a deadline."""
    episode.check(scenario)
    return next(function for function in scenario.functions if function.deadline is not None)


class ResidualLearner:
    """Candidates play a suite of load series in a fluid model; the cheapest at equal violations lead the search."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.service = check(scenario)
        if self.service.work <= 0:
            raise TrimtabError(f"functions.{self.service.name}.work = 0, must be above 0 to learn its staffing")
        assert self.service.deadline is not None
        start_up = max(self.service.create + self.service.init + self.service.init_off_cpu, 1.0)
        peak = peak_of(scenario)
        self.series = suite(TRAINING_SEEDS + seed, peak, start_up)
        self.series += suite(TRAINING_SEEDS + 1000 + seed, peak, 3 * start_up)[2:4]
        low, first, high = np.array([RANGES[name] for name in FEATURES]).T
        self._low, self._high = low, high
        self.search = Search((first - low) / (high - low), width=0.05, population=12, seed=seed)
        self.references = [self._front(each, np.array(SQUARE_ROOT), MARGINS, fixed=True)[0] for each in self.series]

    def weights(self, place: Floats) -> Floats:
        """From the unit cube to the weights."""
        return np.asarray(self._low + (self._high - self._low) * place)

    def run(self, series: Series, weights: Floats, target: float, margin: float) -> tuple[float, float, float]:
        """Violations, cost and changes an hour of one run in the fluid model."""
        service, deadline = self.service.work, self.service.deadline
        settings = np.array([target, 1.0, 1.0, 1.0, margin])
        coming, figures = np.zeros(int(series.start_up) + 1), np.zeros(5)
        begun = max(1.0, math.ceil(series.counts[: round(60 / BIN)].mean() / BIN * service))
        play(series.counts, service, deadline, series.start_up, begun, 1.0, settings, weights,
             np.zeros(MEMORY), np.zeros(TICK), coming, figures)  # fmt: skip
        hours = len(series.counts) * BIN / 3600
        cost = figures[INSTANCE_SECONDS] / (series.requests * service)
        return figures[LATE] / figures[ALL], cost, figures[CHANGES] / hours

    def _front(
        self, series: Series, weights: Floats, knobs: tuple[float, ...], fixed: bool = False
    ) -> tuple[list[float], list[Point]]:
        """Logarithms of the costs at equal violations, and the points themselves."""
        points = []
        for knob in knobs:
            given = (0.01, knob) if fixed else (knob, math.nan)
            points.append(Point(knob, *self.run(series, weights, *given)))
        front = envelope(points)
        found = [at(front, target) for target in TARGETS]
        return [math.log(point.cost) if point else math.inf for point in found], points

    def value(self, place: Floats) -> float:
        """Mean logarithm of the cost over that of square-root staffing; straying and many changes add to it."""
        weights, total = self.weights(place), 0.0
        for series, reference in zip(self.series, self.references, strict=True):
            costs, points = self._front(series, weights, ASKED)
            changes = np.array(costs) - np.array(reference)
            # what is not reached at any cost is worse than all that is
            total += float(np.mean(np.where(np.isfinite(changes), changes, _UNREACHED)))
            asked = [point for point in points if point.knob in TARGETS]
            stray = [abs(math.log(max(point.violations, 1e-6) / point.knob)) - math.log(1.4) for point in asked]
            total += _STRAY * float(np.mean(np.maximum(stray, 0.0) ** 2))
            total += float(np.mean([max(0.0, point.changes_per_hour - CHANGES_WANTED) for point in points])) / 200.0
        return total / len(self.series)

    def step(self) -> Progress:
        """One generation."""
        values = self.search.generation(self.value)
        figures = {"best": -self.search.best_value, "width": self.search.width}
        return Progress(-float(values.mean()), len(values) * len(self.series) * len(ASKED), figures)

    def state(self) -> tuple[State, dict[str, Any]]:
        """The search."""
        return self.search.state()

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on."""
        self.search.restore(arrays, meta)

    def trained(self) -> Trained:
        """The best weights so far."""
        about = Description(decision="scale", policy="residual", recipe="best", features=FEATURES)
        return Trained(about, {"weights": self.weights(self.search.best)})


@dataclass(frozen=True)
class ResidualRecipe:
    """How ``residual`` is learned."""

    unit: str = "generations"
    budget: int = 60

    def start(self, scenario: Scenario, seed: int, budget: int) -> ResidualLearner:
        """A learner before its first generation."""
        return ResidualLearner(scenario, seed)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training uses."""
        return {"scenarios": [scenario.name], "first_seed": TRAINING_SEEDS, "seeds": "two suites of synthetic series"}


best = ResidualRecipe()
