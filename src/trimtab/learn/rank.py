"""How ``place/rank`` is learned: direct search of its weights, all candidates of a generation on the same runs.

A generation draws fresh runs around the scenario: its load between 0.6 and 1.3 times, fewer and
more hosts, invokers as they are, with one core a request, with one container creation at a time, and a
cluster with many rarely called functions. A candidate's loss is its mean completion time over the rule's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.learn.evolution import AveragedSearch
from trimtab.learn.placing import require_placing
from trimtab.learn.recipe import TRAINING_SEEDS, Progress
from trimtab.policies.place import rank
from trimtab.policies.place.rank_guard import SURPRISE
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Function, Scenario
from trimtab.scenario.workload import AzureLikeSpec, FaaSRankSpec
from trimtab.sim.simulation import Simulation
from trimtab.workload.azure_like import draw_functions
from trimtab.workload.build import build_workload
from trimtab.workload.table import Workload

Floats = npt.NDArray[np.float64]

AS_IS, CAPPED, SERIAL, MANY = "as-is", "capped", "serial", "many"
"""Invokers of the scenario; one core a request; the same with one creation at a time; many rare functions."""
_YIELD = 0.625
"""Of hyper-threads, where creation is serial: 8 vCPU that do the work of 5 cores."""
_WORST = math.log(3.0)
"""A loss beyond this counts as this: how bad the bad ones are tells nothing."""

_CALIBRATION = 1_000_000
"""A generation that training never reaches: its runs set the guard's limit."""
_SELDOM, _LEAST_LIMIT = 0.95, 1.2


class Run:
    """One workload on one cluster, which is run again and again with other weights."""

    def __init__(self, scenario: Scenario, workload: Workload, seed: int, kind: str) -> None:
        self.kind = kind
        self._arrival = workload.arrival
        self._simulation = Simulation(scenario, workload, seed, place=rank.untrained())
        self._core = self._simulation.core
        self._tables: tuple[npt.NDArray[Any], ...] = tuple(self._core)
        self._before = tuple(table.copy() for table in self._tables)
        self.requests = len(workload)
        self.rule = self.mean_time(np.zeros(len(rank.FEATURES)))

    def mean_time(self, weights: Floats) -> float:
        """Mean completion time under these weights, without the guard; of what is small enough for a host."""
        simulation = self._simulation
        simulation.core = self._core  # a run that needed more room has tables of its own
        for table, before in zip(self._tables, self._before, strict=True):
            np.copyto(table, before)
        simulation.mind.memory[:] = 0.0
        simulation.mind.weights[: len(weights)] = weights
        simulation.advance()
        times = simulation.core.results["completion"] - self._arrival
        answered = np.isfinite(times)
        return float(np.mean(times[answered])) if answered.any() else 1.0

    def highest_surprise(self, weights: Floats) -> float:
        """The most by which completion times exceeded what was expected, on average of the last ones, in a run."""
        self.mean_time(weights)
        return float(self._simulation.mind.memory[rank.GUARD + SURPRISE])

    def shares(self) -> Floats:
        """Of a host's cores, what a request of each function can use on each host."""
        cores = self._core.hosts["cores"][:, None]
        return np.asarray((np.minimum(self._core.functions["cap"][None, :], cores) / cores).ravel())


def vary(scenario: Scenario, kind: str, random: np.random.Generator) -> Scenario:
    """The scenario with other invokers, hosts and load."""
    times = float(random.choice([0.5, 1.0, 1.0, 1.0, 1.5]))
    load = float(random.uniform(0.6, 1.3))
    hosts = tuple(group.model_copy(update={"count": max(1, round(group.count * times))}) for group in scenario.hosts)
    grown = sum(group.count for group in hosts) / sum(group.count for group in scenario.hosts)
    if kind == MANY:
        return _many(scenario.model_copy(update={"hosts": hosts}), load, random)
    spec = scenario.workload
    if isinstance(spec, FaaSRankSpec):
        calls = max(1, round(spec.calls * load * grown))
        spec = spec.model_copy(update={"calls": calls, "draw": int(random.integers(1, 100_000))})
    changed = scenario.model_copy(update={"hosts": hosts, "workload": spec})
    return changed if kind == AS_IS else _capped(changed, kind == SERIAL)


def _capped(scenario: Scenario, serial: bool) -> Scenario:
    """One core a request; a request that spread over a host does on one core what it did on a share of all."""
    cores = min(group.cores for group in scenario.hosts)

    def cap(function: Function) -> Function:
        if function.parallelism is not None and function.parallelism <= 1.0:
            return function
        spread = cores if function.parallelism is None else function.parallelism
        return function.model_copy(update={"parallelism": 1.0, "work": function.work / spread})

    update: dict[str, Any] = {"functions": tuple(cap(function) for function in scenario.functions)}
    if serial:
        update["platform"] = scenario.platform.model_copy(update={"serial_creation": True})
        update["hosts"] = tuple(
            group.model_copy(update={"effective_cores": group.effective_cores or _YIELD * group.cores})
            for group in scenario.hosts
        )
    return scenario.model_copy(update=update)


def _many(scenario: Scenario, load: float, random: np.random.Generator) -> Scenario:
    """Functions like those of Azure, so many that not all can stay warm, at a tenth to a third of the cores."""
    count, population = int(random.integers(40, 300)), int(random.integers(1, 100_000))
    functions = draw_functions(count, population)
    spec = AzureLikeSpec(
        source="azure-like", rate=20.0, duration=float(random.uniform(60.0, 240.0)), population=population
    )
    drawn = scenario.model_copy(update={"functions": functions, "workload": spec})
    cores = sum(group.count * group.cores * group.speed for group in scenario.hosts)
    sample = build_workload(drawn, 0)
    busy = float(sample.work.sum()) / spec.duration
    rate = min(spec.rate * 0.2 * load * cores / max(busy, 1e-9), 1500.0 / spec.duration)
    return drawn.model_copy(update={"workload": spec.model_copy(update={"rate": rate})})


@dataclass(frozen=True)
class RankRecipe:
    """CMA-ES over all kinds of runs."""

    unit: str = "generations"
    budget: int = 150
    kinds: tuple[str, ...] = (AS_IS, SERIAL, AS_IS, MANY, AS_IS, SERIAL, AS_IS, CAPPED)
    runs: int = 24
    """In a generation."""
    pairs: int = 8
    """Of mirrored candidates in a generation."""
    spread: float = 0.25
    """Of the first candidates around the rule."""

    def start(self, scenario: Scenario, seed: int, budget: int) -> RankLearner:
        """A learner whose first mean is the rule itself."""
        return RankLearner(self, scenario, seed)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training draws from."""
        return {
            "scenario": scenario.name,
            "kinds": list(self.kinds),
            "first_workload_seed": TRAINING_SEEDS,
            "runs_a_generation": self.runs,
        }


class RankLearner(AveragedSearch):
    """The search, generation by generation."""

    def __init__(self, recipe: RankRecipe, scenario: Scenario, seed: int) -> None:
        require_placing(scenario, "rank")
        super().__init__(np.zeros(len(rank.FEATURES)), recipe.spread, recipe.pairs, seed)
        self._recipe, self._scenario, self._seed = recipe, scenario, seed

    def step(self) -> Progress:
        """One generation."""
        runs = self._runs(self._evolution.generation)
        candidates = self._evolution.ask()
        self._evolution.tell(np.array([float(np.mean(_losses(runs, each))) for each in candidates]))
        self._follow(max(0.1, 1.0 / self._evolution.generation))
        losses = _losses(runs, self._average)
        figures = {"step": self._evolution.step}
        for kind in dict.fromkeys(self._recipe.kinds):
            chosen = [loss for run, loss in zip(runs, losses, strict=True) if run.kind == kind]
            if chosen:
                figures[f"saved_{kind}"] = 1.0 - math.exp(float(np.mean(chosen)))
        decisions = (len(candidates) + 2) * sum(run.requests for run in runs)
        return Progress(1.0 - math.exp(float(np.mean(losses))), decisions, figures)

    def _runs(self, generation: int) -> list[Run]:
        made = []
        for position in range(self._recipe.runs):
            number = generation * self._recipe.runs + position
            random = np.random.default_rng([self._seed, number])
            kind = self._recipe.kinds[number % len(self._recipe.kinds)]
            scenario = vary(self._scenario, kind, random)
            seed = TRAINING_SEEDS + self._seed * 1_000_003 + number
            made.append(Run(scenario, build_workload(scenario, seed), seed, kind))
        return made

    def trained(self) -> Trained:
        """The policy at the average mean, with the limit of its guard."""
        about = Description(decision="place", policy="rank", recipe="best", features=rank.FEATURES)
        runs = self._runs(_CALIBRATION)
        shares = np.concatenate([run.shares() for run in runs])
        return Trained(
            about,
            {
                "weights": self._average.copy(),
                "limit": np.array([calibrate(runs, self._average)]),
                "shares": np.array([shares.min(), shares.max()]),
            },
        )


def calibrate(runs: list[Run], weights: Floats) -> float:
    """The guard's limit: hardly ever exceeded on the kind of machine that the policy was trained for."""
    highest = [run.highest_surprise(weights) for run in runs]
    return max(float(np.quantile(highest, _SELDOM)), _LEAST_LIMIT)


def _losses(runs: list[Run], weights: Floats) -> list[float]:
    """Log of mean completion time over the rule's, run by run."""
    return [min(math.log(run.mean_time(weights) / run.rule), _WORST) for run in runs]


BEST = RankRecipe()
