"""How ``route/rank`` is learned: direct search of its weights, all candidates of a generation on the same runs.

A generation draws fresh runs: the scenario at a third of its load up to twice its load, cut to a few minutes. A
scenario of ASET's family stands for all three topologies, so that one policy learns to do without what one of
them has. A candidate is judged by the share of queries that are answered in time and accurately enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.control.run import Team, build_team, run
from trimtab.errors import TrimtabError
from trimtab.learn.evolution import AveragedSearch
from trimtab.learn.recipe import TRAINING_SEEDS, Progress
from trimtab.policies.route import rank
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import StreamsSpec
from trimtab.sim.outcome import Outcome
from trimtab.sim.records import COMPLETED
from trimtab.workload.build import build_workload

Floats = npt.NDArray[np.float64]

FAMILY = ("aset-full-edge", "aset-co-dc-cloud", "aset-dc-cloud")
_FIRST_STEPS = {
    "success": 3.0, "scarcity": -3.0, "demand-load": -1.5, "overrun": -1.0, "tight-demand": -1.0,
    "accuracy-surplus": -1.0, "distance": 0.5,
}  # fmt: skip
"""Where the search starts: the rule, and a sketch of what it lacks, found by trying one feature after the other on
training seeds. The step size is a fraction of these."""


class Run:
    """One workload, which is run again and again with other weights."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario, self.seed = scenario, seed
        self._workload = build_workload(scenario, seed)
        others = build_team(scenario, "route", "relative-load").policies
        self._team = Team(others | {"route": rank.untrained()})
        self.decisions = len(self._workload.streams.arrival) if self._workload.streams is not None else 0

    def success(self, weights: Floats) -> float:
        """Share of queries that are answered in time and accurately enough."""
        chosen = tuple(float(value) for value in weights)
        self._team.policies["route"] = replace(rank.policy, weights=chosen)
        return success_rate(run(self.scenario, self._workload, self.seed, self._team.copy(), "rank"))


def success_rate(outcome: Outcome) -> float:
    """Share of queries that are answered in time and accurately enough."""
    return float(np.mean((outcome.status == COMPLETED) & ~outcome.late & outcome.accurate))


@dataclass(frozen=True)
class RouteRankRecipe:
    """CMA-ES over loads and topologies."""

    unit: str = "generations"
    budget: int = 100
    runs: int = 5
    """In a generation."""
    pairs: int = 6
    """Of mirrored candidates in a generation."""
    spread: float = 0.3
    """Of the first candidates."""
    lightest: float = 1.0 / 3.0
    heaviest: float = 2.0
    """Load of a run over that of the scenario."""
    seconds: float = 280.0
    warm_up: float = 100.0
    """Of a run, where the scenario's is not shorter: streams of the warm-up are of every age at its end."""

    def start(self, scenario: Scenario, seed: int, budget: int) -> RouteRankLearner:
        """A learner whose first mean is the rule with a first sketch of its correction."""
        return RouteRankLearner(self, family(scenario), seed)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training draws from."""
        return {
            "scenarios": [each.name for each in family(scenario)],
            "load": [self.lightest, self.heaviest],
            "seconds": self.seconds,
            "first_workload_seed": TRAINING_SEEDS,
            "runs_a_generation": self.runs,
            "candidates": 2 * self.pairs,
        }


def family(scenario: Scenario) -> tuple[Scenario, ...]:
    """The scenarios to train on: ASET's topologies in turn, the one with most choice more often; else the one given."""
    if not isinstance(scenario.workload, StreamsSpec):
        raise TrimtabError(f"workload.source = {scenario.workload.source!r}, must be 'streams' to train a route policy")
    if scenario.name not in FAMILY:
        return (scenario,)
    full, office, centre = (load_scenario(name) for name in FAMILY)
    # seven, so that with five runs a generation each topology meets each load
    return (full, full, office, full, full, centre, full)


def vary(scenario: Scenario, load: float, seconds: float, warm_up: float) -> Scenario:
    """The scenario at another load, cut short."""
    spec = scenario.workload
    assert isinstance(spec, StreamsSpec)
    changes = {
        "rate": spec.rate * load,
        "steps": (),
        "duration": min(spec.duration, seconds),
        "warm_up": min(spec.warm_up, warm_up),
    }
    return scenario.model_copy(update={"workload": spec.model_copy(update=changes)})


class RouteRankLearner(AveragedSearch):
    """The search, generation by generation."""

    def __init__(self, recipe: RouteRankRecipe, scenarios: tuple[Scenario, ...], seed: int) -> None:
        start = np.array([_FIRST_STEPS.get(name, 0.0) for name in rank.FEATURES])
        super().__init__(start, recipe.spread, recipe.pairs, seed)
        self._recipe, self._scenarios, self._seed = recipe, scenarios, seed

    def step(self) -> Progress:
        """One generation."""
        runs = self._runs(self._evolution.generation)
        candidates = self._evolution.ask()
        found = np.array([_success(runs, each) for each in candidates])
        self._evolution.tell(-found)
        self._follow(0.1)
        rule = _success(runs, np.zeros(rank.SIZE))
        figures = {"step": self._evolution.step, "success": float(found.mean()), "success_of_rule": rule}
        decisions = (len(candidates) + 1) * sum(each.decisions for each in runs)
        return Progress(float(found.mean()) - rule, decisions, figures)

    def _runs(self, generation: int) -> list[Run]:
        made, recipe = [], self._recipe
        for position in range(recipe.runs):
            number = generation * recipe.runs + position
            scenario = self._scenarios[number % len(self._scenarios)]
            # spread evenly over the range, so that each generation sees light and heavy load
            place = (position + float(np.random.default_rng([self._seed, number]).uniform())) / recipe.runs
            load = recipe.lightest + (recipe.heaviest - recipe.lightest) * place
            shorter = vary(scenario, load, recipe.seconds, recipe.warm_up)
            made.append(Run(shorter, TRAINING_SEEDS + self._seed * 1_000_003 + number))
        return made

    def trained(self) -> Trained:
        """The policy at the average mean."""
        about = Description(decision="route", policy="rank", recipe="best", features=rank.FEATURES)
        return Trained(about, {"weights": self._average.copy()})


def _success(runs: list[Run], weights: Floats) -> float:
    return float(np.mean([each.success(weights) for each in runs]))


BEST = RouteRankRecipe()
