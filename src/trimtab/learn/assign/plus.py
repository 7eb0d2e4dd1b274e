"""Learning of ``metanet-plus``: what plans cost, told apart by branches of simulated runs.

A unit is one run of the scenario. In sampled states every candidate plans; each plan that differs from the fallback's
is played on in a branch of the run, arrivals and all, until its tasks are done, and so is the fallback's: the label
is how much more it cost. The first units follow the fallback with other candidates mixed in, later ones the selector
as it stands, so that it learns where it leads. Seeds of evaluation are never seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.control.assign_windows import assign_feature_names
from trimtab.control.assigning import AssignLoop, View
from trimtab.control.lookahead import outlook, run_until
from trimtab.control.run import Team, run
from trimtab.control.selecting import Selection, candidate_of
from trimtab.control.simulated import SimulatedPlatform
from trimtab.errors import TrimtabError
from trimtab.learn.assign.hosts import host_types
from trimtab.learn.recipe import TRAINING_SEEDS, Progress, State
from trimtab.learn.select.bagging import bagged
from trimtab.policies.assign.contract import Ints
from trimtab.policies.select.bets import Bets, design
from trimtab.policies.select.contract import AssignState, Situation
from trimtab.policies.select.metanet_plus import FEATURES, NAME, MetaNetPlus, on_paper
from trimtab.policies.select.plan_features import CONTEXT, PLAN, Comparison, context
from trimtab.policies.trained import Description, Trained
from trimtab.report.statistics import t_interval
from trimtab.scenario.model import Scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

Floats = npt.NDArray[np.float64]

CANDIDATES = (
    "cheap-fit",
    "lstm-aco",
    "semi-direct",
    "graf",
    "gobi",
    "first-fit",
    "least-loaded",
    "best-fit",
    "best-fit(margin=1.25)",
    "cheap-fit(margin=1,late_price=0)",
    "cheap-fit(late_price=0.005)",
    "cheap-fit(late_price=0.02)",
)
"""Policies whose plans may be compared: the heuristics, and of the seven one ant colony and three networks.

The others add little but time: ``arima-aco`` plans as ``lstm-aco`` does, ``gosh`` and ``decision-nn`` as ``gobi``.
"""
DEARER = 1.1
"""A policy that costs by itself more than so many times what the best one does is no candidate."""
CONTINUING = "cheap-fit"
"""Who plans on in a branch: a strong policy that takes no time."""
HORIZONS = 6, 40
"""Fewest and most intervals that a branch sees arrivals: as long as a task takes alone, so that what a plan takes from
later tasks shows."""
DOUBT = 0.3
"""Deviation of the work, by which labels count tasks as late: a violation that chance decided says little of a plan."""
TRIALS, PROOFS = 4, 6
"""Seeds of whole runs that find the fallback, as many others for penalty and caution, others again for the proof."""
_FALLBACK, _CAUTION, _PROOF = 900_000, 901_000, 902_000
MODELS = 10
PENALTY = 100.0
"""Of the ridge while it collects: inputs are of the order of one, labels of a milli-USD."""
CHOICES = ((100.0, 0.0), (1e3, 0.0), (1e3, 1.0), (1e4, 1.0))
"""Penalties and cautions of which the best is taken in the end: labels of long tasks are mostly noise."""
CAUTIONS = (0.0, 1.0, 2.0, 4.0)
"""Deviations of the models that a plan must promise to be cheaper by."""
_FOLLOWING = 2
"""Runs that follow the fallback, before the selector leads."""
_STRETCH = 100
"""States that are held out together."""
_MIXED = 0.1
"""Share of the intervals in which any candidate plans, so that states off the path are seen."""


@dataclass(frozen=True)
class _Fixed:
    """A plan that is there already, as a policy."""

    name: str
    hosts: Ints

    def plan(self, tasks: Any, hosts: Any, current: Ints) -> Ints:
        """Just that."""
        return self.hosts


@dataclass
class Rows:
    """Labelled plans, one a row."""

    difference: Floats
    context: Floats
    cost: Floats
    """Milli-USD more than the fallback's plan."""
    state: npt.NDArray[np.int64]
    """In which state; all plans of a state stay together when rows are split."""

    @classmethod
    def none(cls) -> Rows:
        """Before anything was collected."""
        return cls(np.zeros((0, len(PLAN))), np.zeros((0, len(CONTEXT))), np.zeros(0), np.zeros(0, np.int64))

    def with_more(self, rows: list[tuple[Floats, Floats, float, int]]) -> Rows:
        """These and more; states are numbered one after the other."""
        if not rows:
            return self
        first = int(self.state.max()) + 1 if len(self.state) else 0
        differences, contexts, costs, intervals = zip(*rows, strict=True)
        states = np.unique(intervals, return_inverse=True)[1]
        return Rows(
            np.concatenate([self.difference, np.array(differences)]),
            np.concatenate([self.context, np.array(contexts)]),
            np.concatenate([self.cost, np.array(costs)]),
            np.concatenate([self.state, states + first]),
        )


def fitted(rows: Rows, seed: int, penalty: float = PENALTY) -> tuple[Floats, Floats]:
    """Weights of the linear models, each fitted on states drawn with replacement, and the scale of the differences."""
    if not len(rows.cost):  # nobody ever planned otherwise than the fallback
        return np.zeros((MODELS, len(PLAN) * len(CONTEXT))), np.ones(len(PLAN))
    scale = np.sqrt((rows.difference**2).mean(axis=0)) + 1e-6
    inputs = design(rows.difference, rows.context, scale)
    labels = rows.cost - on_paper(rows.difference)
    return bagged(inputs, labels, rows.state, MODELS, penalty, seed), scale


def best_caution(rows: Rows, seed: int) -> tuple[float, float]:
    """The caution with which choices cost least in states that the models were not fitted on, and milli-USD saved."""
    # neighbouring states share their future: whole stretches of runs are held out, not single states
    odd = rows.state // _STRETCH % 2 == 1
    saved = np.zeros(len(CAUTIONS))
    for part in (odd, ~odd):
        if not part.any() or part.all():
            return CAUTIONS[-1], 0.0
        weights, scale = fitted(_some(rows, part), seed)
        rest = _some(rows, ~part)
        found = on_paper(rest.difference)[:, None] + design(rest.difference, rest.context, scale) @ weights.T
        for index, caution in enumerate(CAUTIONS):
            bets = found.mean(axis=1) + caution * found.std(axis=1)
            saved[index] -= _chosen_cost(bets, rest.cost, rest.state)
    best = int(np.argmax(saved))
    return CAUTIONS[best], float(saved[best]) / max(len(np.unique(rows.state)), 1)


def _some(rows: Rows, kept: npt.NDArray[np.bool_]) -> Rows:
    return Rows(rows.difference[kept], rows.context[kept], rows.cost[kept], rows.state[kept])


def _chosen_cost(bets: Floats, costs: Floats, states: npt.NDArray[np.int64]) -> float:
    """What the best bet of every state really cost more than the fallback, where it promised to cost less."""
    order = np.lexsort((bets, states))
    first = order[np.flatnonzero(np.diff(states[order], prepend=-1))]
    return float(costs[first][bets[first] < 0.0].sum())


class Collector:
    """Runs of scenarios in which plans are labelled."""

    def __init__(self, every: int, candidates: tuple[str, ...], fallback: str, horizon: int) -> None:
        self.every, self.horizon = every, horizon
        """Intervals from one labelled state to the next; how far to look."""
        self.candidates, self.fallback = candidates, fallback
        """Who plans, and with whose plan the others are compared."""

    def run(
        self, scenario: Scenario, seed: int, chooser: MetaNetPlus | None
    ) -> list[tuple[Floats, Floats, float, int]]:
        """One run: rows with the number of their state in it."""
        workload = build_workload(scenario, seed)
        simulation = Simulation(scenario, workload, seed)
        policies = {name: candidate_of(scenario, name) for name in self.candidates}
        for policy in policies.values():
            policy.reset(seed)
        continuing = candidate_of(scenario, CONTINUING)
        loop = AssignLoop(SimulatedPlatform(simulation), policies[self.fallback])
        loop.watchers = tuple(policies.values())
        random, rows = np.random.default_rng(seed), list[tuple[Floats, Floats, float, int]]()
        for interval in range(1, int(workload.duration / loop.interval) + 1):
            run_until(loop, interval * loop.interval)
            view = loop.look()
            if len(view.slots) == 0:
                continue
            plans = {name: each.plan(view.tasks, view.hosts, view.current) for name, each in policies.items()}
            if (interval + seed) % self.every == 0:
                rows += self._labelled(simulation, continuing, view, plans, interval)
            name = self._behaviour(chooser, view, plans, random)
            loop.policy = policies[name]
            loop.take(view, _Fixed(name, plans[name]))
        return rows

    def _behaviour(
        self, chooser: MetaNetPlus | None, view: View, plans: dict[str, Ints], random: np.random.Generator
    ) -> str:
        if random.random() < _MIXED:
            return self.candidates[int(random.integers(len(self.candidates)))]
        if chooser is None:
            return self.fallback
        state = AssignState("", np.zeros(0), np.ones(1), 0.0, view.tasks, view.hosts, view.current, plans)
        return chooser.choose(state, 0.0)

    def _labelled(
        self, simulation: Simulation, then: Any, view: View, plans: dict[str, Ints], number: int
    ) -> list[tuple[Floats, Floats, float, int]]:
        reference = plans[self.fallback]
        comparison = Comparison(view.tasks, view.hosts, view.current, reference)
        about = context(view.tasks, view.hosts, view.current)
        different = {plan.tobytes(): (name, plan) for name, plan in plans.items()}
        different.pop(reference.tobytes(), None)
        if not different:
            return []
        base = outlook(simulation, [_Fixed(self.fallback, reference), then], self.horizon, DOUBT)
        return [
            (
                comparison.difference(plan),
                about,
                1e3 * (outlook(simulation, [_Fixed(name, plan), then], self.horizon, DOUBT) - base),
                number,
            )
            for name, plan in different.values()
        ]


def horizon_of(scenario: Scenario) -> int:
    """Intervals that a branch sees arrivals."""
    alone = np.mean([each.work / (each.parallelism or 1.0) for each in scenario.functions])
    return int(np.clip(round(float(alone) / scenario.control.interval), *HORIZONS))


def trial(scenario: Scenario, team: Team, first: int, count: int) -> Floats:
    """USD of whole runs on seeds that are kept for trials."""
    seeds = range(TRAINING_SEEDS + first, TRAINING_SEEDS + first + count)
    return np.array(
        [run(scenario, build_workload(scenario, seed), seed, team.copy(), "trial").meters["cost_usd"] for seed in seeds]
    )


def alone(scenario: Scenario, name: str, first: int, count: int) -> Floats:
    """The same with a candidate that always plans."""
    return trial(scenario, Team({"assign": candidate_of(scenario, name)}), first, count)


def best_fixed(scenario: Scenario) -> tuple[str, tuple[str, ...]]:
    """The policy that costs least when it always plans, and those that are worth comparing with it."""
    costs = {name: float(alone(scenario, name, _FALLBACK, TRIALS).sum()) for name in CANDIDATES}
    best = min(costs, key=lambda name: costs[name])
    return best, tuple(name for name, cost in costs.items() if cost <= DEARER * costs[best])


def selecting(scenario: Scenario, selector: MetaNetPlus) -> Team:
    """A run's team with the selector and its candidates."""
    policies = {name: candidate_of(scenario, name) for name in selector.candidates}
    situation = Situation(
        "assign", selector.candidates, selector.fallback, assign_feature_names(scenario), scenario.control.window
    )
    return Team({"assign": policies[selector.fallback], "select": Selection(selector, policies, situation)})


class PlusLearner:
    """Collects run by run, and fits anew after each."""

    def __init__(self, scenario: Scenario, seed: int, every: int) -> None:
        self.scenario, self.seed, self.every = scenario, seed, every
        self.rows, self.unit, self.fallback = Rows.none(), 0, ""
        self.candidates: tuple[str, ...] = ()

    def step(self) -> Progress:
        """One run; before the first, the best fixed policy is found."""
        if not self.fallback:
            self.fallback, self.candidates = best_fixed(self.scenario)
        chooser = self._chooser() if self.unit >= _FOLLOWING else None
        collector = Collector(self.every, self.candidates, self.fallback, horizon_of(self.scenario))
        rows = collector.run(self.scenario, TRAINING_SEEDS + 1000 * self.seed + self.unit, chooser)
        self.rows = self.rows.with_more(rows)
        self.unit += 1
        _, saved = best_caution(self.rows, self.seed)
        return Progress(saved, len(rows), {"rows": float(len(self.rows.cost))})

    def _chooser(self, penalty: float = PENALTY, caution: float | None = None) -> MetaNetPlus:
        weights, scale = fitted(self.rows, self.seed, penalty)
        caution = best_caution(self.rows, self.seed)[0] if caution is None else caution
        return MetaNetPlus(self.candidates, self.fallback, Bets(weights, scale, caution))

    def _tried(self) -> tuple[float, float]:
        """The penalty and the caution with which whole runs cost least."""
        costs = {each: float(self._selecting(*each, _CAUTION, TRIALS).sum()) for each in CHOICES}
        return min(costs, key=lambda each: costs[each])

    def _proof(self, penalty: float, caution: float) -> dict[str, Any]:
        """On other seeds: percent saved against the fallback alone, with its 95 % interval."""
        fallback = alone(self.scenario, self.fallback, _PROOF, PROOFS)
        saved = 100.0 * (1.0 - self._selecting(penalty, caution, _PROOF, PROOFS) / fallback)
        low, high = t_interval(saved) or (0.0, 0.0)
        interval = [round(low, 3), round(high, 3)]
        return {"runs": PROOFS, "saved_percent": round(float(saved.mean()), 3), "ci95": interval}

    def _selecting(self, penalty: float, caution: float, first: int, count: int) -> Floats:
        return trial(self.scenario, selecting(self.scenario, self._chooser(penalty, caution)), first, count)

    def state(self) -> tuple[State, dict[str, Any]]:
        """The rows; all else follows from them."""
        rows = self.rows
        arrays: State = {"difference": rows.difference, "context": rows.context, "cost": rows.cost, "state": rows.state}
        return arrays, {"unit": self.unit, "fallback": self.fallback, "candidates": list(self.candidates)}

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on from there."""
        self.rows = Rows(*(np.array(arrays[name]) for name in ("difference", "context", "cost", "state")))
        self.unit, self.fallback = int(meta["unit"]), str(meta["fallback"])
        self.candidates = tuple(meta["candidates"])

    def trained(self) -> Trained:
        """The selector as it stands."""
        penalty, caution = self._tried()
        weights, scale = fitted(self.rows, self.seed, penalty)
        proof = self._proof(penalty, caution)
        settings = {
            "candidates": list(self.candidates),
            "fallback": self.fallback,
            "models": MODELS,
            "penalty": penalty,
            "caution": caution,
            "proven": proof["ci95"][0] > 0.0,
            "proof": proof,
            "hosts": host_types(self.scenario),
        }
        about = Description(decision="select", policy=NAME, recipe="best", features=FEATURES, settings=settings)
        return Trained(about, {"weights": weights.astype(np.float32), "scale": scale.astype(np.float32)})


@dataclass(frozen=True)
class Plus:
    """On the scenario that it is for."""

    unit: str = "runs"
    budget: int = 6
    every: int = 4

    def start(self, scenario: Scenario, seed: int, budget: int) -> PlusLearner:
        """Before the first run."""
        if scenario.decision != "assign":
            raise TrimtabError(
                f"policy = {NAME!r} selects among assign policies, this scenario's decision is {scenario.decision!r}"
            )
        return PlusLearner(scenario, seed, self.every)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """Seeds of the runs and of the trials of fixed policies."""
        return {"seeds": [TRAINING_SEEDS, TRAINING_SEEDS + 999_999]}


BEST = Plus()
