"""Recipe of ``residual``: direct search for the weights that cost least at equal violations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.learn.evolution import Evolution
from trimtab.learn.recipe import TRAINING_SEEDS, Progress, State
from trimtab.learn.scale import episode
from trimtab.learn.scale.fluid import ALL, BIN, CHANGES, INSTANCE_SECONDS, LATE, play
from trimtab.learn.scale.suite import Series, suite
from trimtab.policies.scale.staffing import FEATURES, MEMORY, TICK
from trimtab.policies.trained import Description, Trained
from trimtab.report.frontier import TARGETS, Point, at, envelope
from trimtab.scenario.model import Function, Scenario
from trimtab.workload.replace import peak_of

Floats = npt.NDArray[np.float64]

RANGES: dict[str, tuple[float, float, float]] = {
    # lowest, first, highest
    "floor": (-0.5, -0.1, 1.5),
    "power": (0.0, 0.25, 1.5),
    "volatility": (0.0, 0.2, 1.0),
    "rise": (0.0, 0.4, 2.0),
    "trend": (-1.0, -0.3, 1.0),
    "backlog": (0.0, 0.12, 0.4),
    "constant": (-0.5, 1.5, 3.0),
    "fast": (0.7, 1.8, 5.0),
    "slow": (3.0, 18.0, 30.0),
    "band": (0.0, 2.2, 4.0),
    "down_delay": (8.0, 13.0, 40.0),
    "target": (-1.0, 0.3, 6.0),
    "target_slope": (0.1, 1.0, 3.0),
    "prior": (100.0, 16_000.0, 30_000.0),
    "gain": (0.0, 0.8, 2.0),
    "spare": (0.0, 0.4, 1.0),
    "patience": (100.0, 800.0, 7200.0),
    "push": (0.0, 0.35, 2.0),
    "pace": (10.0, 200.0, 1800.0),
}
ASKED = (0.0003, 0.001, 0.005, 0.01, 0.05, 0.1)
"""Violation rates that are asked for in training."""
SQUARE_ROOT = (0.0, 0.5, 0.0, 0.0, 0.0, 0.05, 0.0, 2.5, 15.0, 0.0, 30.0, 2.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
"""Weights that make it square-root staffing with a fixed margin."""
MARGINS = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
CHANGES_WANTED = 170.0
_UNREACHED = 0.3
_BORNE, _STRAY, _MOST_STRAY = math.log(1.6), 0.15, 1.5
"""How far a rate may miss what was asked for (a logarithm), the cost of one unit more, and the most that counts."""
_STEP, _PAIRS = 0.05, 8
_OUTSIDE = 10.0


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
        self.seed = seed
        self.start_up = max(self.service.create + self.service.init + self.service.init_off_cpu, 1.0)
        self.peak = peak_of(scenario)
        low, first, high = np.array([RANGES[name] for name in FEATURES]).T
        self._low, self._high = low, high
        self._evolution = Evolution((first - low) / (high - low), _STEP, _PAIRS, seed)
        self._average = self._evolution.mean.copy()

    def series(self, generation: int) -> list[Series]:
        """The series of one generation: new ones each time, the restless kinds also with a slow start-up."""
        first = TRAINING_SEEDS + 1000 * self.seed + generation
        slow = suite(TRAINING_SEEDS * 2 + 1000 * self.seed + generation, self.peak, 3 * self.start_up)
        return suite(first, self.peak, self.start_up) + slow[2:4]

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

    def value(self, weights: Floats, series: Series, reference: list[float]) -> float:
        """Mean logarithm of the cost over that of square-root staffing; straying and many changes add to it."""
        costs, points = self._front(series, weights, ASKED)
        # a rate that square-root staffing does not reach counts for nothing, one that only it reaches for a lot
        pairs = [(mine, other) for mine, other in zip(costs, reference, strict=True) if math.isfinite(other)]
        found = sum(mine - other if math.isfinite(mine) else _UNREACHED for mine, other in pairs) / len(TARGETS)
        asked = [point for point in points if point.knob in TARGETS]
        stray = [abs(math.log(max(point.violations, 1e-6) / point.knob)) - _BORNE for point in asked]
        found += _STRAY * float(np.mean(np.clip(stray, 0.0, _MOST_STRAY) ** 2))
        return found + float(np.mean([max(0.0, point.changes_per_hour - CHANGES_WANTED) for point in points])) / 200.0

    def step(self) -> Progress:
        """One generation."""
        series = self.series(self._evolution.generation)
        rule = np.array(SQUARE_ROOT)
        references = [self._front(each, rule, MARGINS, fixed=True)[0] for each in series]
        places = self._evolution.ask()
        inside = np.clip(places, 0.0, 1.0)
        losses = np.zeros(len(places))
        for place in range(len(places)):
            weights = self.weights(inside[place])
            each = [self.value(weights, one, other) for one, other in zip(series, references, strict=True)]
            losses[place] = float(np.mean(each)) + _OUTSIDE * float(((places[place] - inside[place]) ** 2).sum())
        self._evolution.tell(losses)
        share = max(0.1, 1.0 / self._evolution.generation)
        self._average = self._average + share * (self._evolution.mean - self._average)
        runs = len(places) * len(series) * len(ASKED)
        return Progress(-float(losses.mean()), runs, {"best": -float(losses.min()), "step": self._evolution.step})

    def state(self) -> tuple[State, dict[str, Any]]:
        """The search and the average of its means."""
        arrays, meta = self._evolution.state()
        return {**arrays, "average": self._average.copy()}, meta

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on."""
        self._evolution.restore(arrays, meta)
        self._average = np.array(arrays["average"], np.float64)

    def trained(self) -> Trained:
        """The average of the last means."""
        about = Description(decision="scale", policy="residual", recipe="best", features=FEATURES)
        return Trained(about, {"weights": self.weights(np.clip(self._average, 0.0, 1.0))})


@dataclass(frozen=True)
class ResidualRecipe:
    """How ``residual`` is learned."""

    unit: str = "generations"
    budget: int = 30

    def start(self, scenario: Scenario, seed: int, budget: int) -> ResidualLearner:
        """A learner before its first generation."""
        return ResidualLearner(scenario, seed)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training uses."""
        seeds = "1,000 seed + generation, from first_seed and twice that on: new series every generation"
        return {"scenarios": [scenario.name], "first_seed": TRAINING_SEEDS, "seeds": seeds}


best = ResidualRecipe()
