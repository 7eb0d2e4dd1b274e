"""Learning of ``metanet-plus`` over scale policies: what each costs, told apart by branches of simulated runs.

A unit is one run of the scenario. At the start of a window the run is branched: each candidate decides for the window,
then the fallback for another one, and what is unfinished is drained. The label is how much more that cost than the
fallback's own branch under the very same arrivals. The first units follow the fallback with other candidates mixed
in, later ones the selector as it stands, so that it learns where it leads.

Spikes are drawn anew for every run of training where the scenario draws them once: those of the scenario, and seeds of
evaluation, are never seen. The fallback, the caution and the proof each have trial runs of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from trimtab.control.run import build_team, run
from trimtab.control.scale_cost import core_price
from trimtab.control.scale_windows import scale_feature_names
from trimtab.control.selecting import Selection, candidate_of
from trimtab.errors import TrimtabError
from trimtab.learn.recipe import TRAINING_SEEDS, Progress, State
from trimtab.learn.select.bagging import bagged
from trimtab.policies.select.bets import Bets, design
from trimtab.policies.select.contract import Future, ScaleState, SelectPolicy, Situation, WindowOutcome
from trimtab.policies.select.contract import State as Seen
from trimtab.policies.select.scale_features import CONTEXT, DIFFERENCE, differences_of
from trimtab.policies.select.scale_plus import NAME, ScalePlus
from trimtab.policies.trained import Description, Trained
from trimtab.report.statistics import t_interval
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload

Floats = npt.NDArray[np.float64]

CANDIDATES = (
    "square-root",
    "holt",
    "hpa-inflight",
    "threshold-cpu",
    "square-root(c=3)",
    "square-root(c=5)",
    "square-root(down_delay=180)",
    "square-root(c=1,down_delay=180)",
)
"""Policies that are compared: rules, and versions with more margin or more patience of the one that staffs for a load.
Rules that come to grief when they are left alone for a window (``hpa``, ``kpa``) would drown what tells the others
apart: a window of theirs may cost ten times as much."""
BEYOND = 1
"""Windows in which the fallback goes on in a branch: by then what a candidate started or stopped is gone. It takes
some minutes, so with windows of one minute there would have to be six."""
MODELS = 10
PENALTY = 30.0
"""Of the ridge: inputs are of the order of one, labels of a milli-USD."""
CAUTIONS = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Deviations of the models that a candidate must promise to be cheaper by."""
_FALLBACK, _CAUTION, _PROOF = 900_000, 910_000, 920_000
"""First seeds, from ``TRAINING_SEEDS`` on, of the runs that find the fallback, choose the caution, make the proof."""
_TRIALS, _PROOFS = 6, 10
_FOLLOWING = 2
"""Runs that follow the fallback, before the selector leads."""
_MIXED = 0.2
"""Share of the windows in which any candidate decides, so that states off the path are seen."""

Row = tuple[Floats, Floats, float]


@dataclass
class Rows:
    """Labelled candidates, one a row."""

    difference: Floats
    context: Floats
    cost: Floats
    """Milli-USD more than the fallback."""
    run: npt.NDArray[np.int64]
    """Of which run; neighbouring windows share their future, so that whole runs are held out."""

    @classmethod
    def none(cls) -> Rows:
        """Before anything was collected."""
        sizes = len(DIFFERENCE) + len(CANDIDATES), len(CONTEXT)
        return cls(np.zeros((0, sizes[0])), np.zeros((0, sizes[1])), np.zeros(0), np.zeros(0, np.int64))

    def with_more(self, rows: Sequence[Row], run: int) -> Rows:
        """These and those of another run."""
        if not rows:
            return self
        differences, contexts, costs = zip(*rows, strict=True)
        return Rows(
            np.concatenate([self.difference, np.array(differences)]),
            np.concatenate([self.context, np.array(contexts)]),
            np.concatenate([self.cost, np.array(costs)]),
            np.concatenate([self.run, np.full(len(rows), run)]),
        )

    def some(self, kept: npt.NDArray[np.bool_]) -> Rows:
        """Part of them."""
        return Rows(self.difference[kept], self.context[kept], self.cost[kept], self.run[kept])


def fitted(rows: Rows, seed: int) -> tuple[Floats, Floats]:
    """Weights of the linear models, and the scale of the differences."""
    scale = np.sqrt((rows.difference**2).mean(axis=0)) + 1e-6
    # windows that follow each other share their future: two of them are drawn together
    stretches = np.arange(len(rows.cost)) // (2 * (len(CANDIDATES) - 1))
    inputs = design(rows.difference, rows.context, scale)
    return bagged(inputs, rows.cost, stretches, MODELS, PENALTY, seed), scale


def saved_by(rows: Rows, seed: int, caution: float = 1.0) -> float:
    """Milli-USD a window that choices save in runs that the models were not fitted on."""
    odd = rows.run % 2 == 1
    if not odd.any() or odd.all():
        return 0.0
    return sum(_saved(rows.some(part), rows.some(~part), seed, caution) for part in (odd, ~odd)) / 2


def _saved(known: Rows, rest: Rows, seed: int, caution: float) -> float:
    weights, scale = fitted(known, seed)
    found = design(rest.difference, rest.context, scale) @ weights.T
    bets = (found.mean(axis=1) + caution * found.std(axis=1)).reshape(-1, len(CANDIDATES) - 1)
    best = bets.argmin(axis=1)[:, None]
    cost = np.take_along_axis(rest.cost.reshape(bets.shape), best, axis=1)
    return -float(np.where(np.take_along_axis(bets, best, axis=1) < 0.0, cost, 0.0).mean())


class Collector:
    """A selector that labels every candidate in some of the windows, and follows somebody else."""

    name: ClassVar[str] = "collector"
    decision: ClassVar[str] = "select"

    def __init__(self, fallback: str, every: int, leader: ScalePlus | None) -> None:
        self.fallback, self.every, self.leader = fallback, every, leader
        self.rows: list[Row] = []

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins."""
        self._random, self._window = np.random.default_rng((seed, 83)), 0
        self._beyond = BEYOND * situation.window
        self._costs: dict[str, float] = {}

    def foresee(self, future: Future) -> None:
        """Play every candidate on, in one window of several; before the first nobody has asked for anything."""
        labelled = self._window > 0 and self._window % self.every == 0
        self._costs = {name: -future.window(name, self._beyond) for name in CANDIDATES} if labelled else {}
        self._window += 1

    def choose(self, state: Seen, now: float) -> str:
        """Keep the labels; then mostly the leader's choice."""
        if self._costs and isinstance(state, ScaleState):
            differences = differences_of(state, self.fallback, CANDIDATES)
            self.rows += [
                (row, state.context, 1e3 * (self._costs[name] - self._costs[self.fallback]))
                for name, row in zip(CANDIDATES, differences, strict=True)
                if name != self.fallback
            ]
        if self._random.random() < _MIXED:
            return CANDIDATES[int(self._random.integers(len(CANDIDATES)))]
        return self.fallback if self.leader is None else self.leader.choose(state, now)

    def learn(self, outcome: WindowOutcome) -> None:
        """Branches tell more."""


def drawn(scenario: Scenario, seed: int) -> Scenario:
    """The scenario with spikes of this seed where it draws them once for all seeds: they must not be known by heart."""
    if not hasattr(scenario.workload, "draw"):
        return scenario
    return scenario.model_copy(update={"workload": scenario.workload.model_copy(update={"draw": seed})})


def selected(scenario: Scenario, selector: SelectPolicy, fallback: str, seed: int) -> float:
    """USD of a run in which a selector chooses among the candidates."""
    policies = {name: candidate_of(scenario, name) for name in CANDIDATES}
    features = scale_feature_names(scenario)
    situation = Situation("scale", CANDIDATES, fallback, features, scenario.control.window)
    return _usd(scenario, {"scale": policies[fallback], "select": Selection(selector, policies, situation)}, seed)


def fixed(scenario: Scenario, name: str, seed: int) -> float:
    """USD of a run in which one candidate always decides."""
    return _usd(scenario, {"scale": candidate_of(scenario, name)}, seed)


def _usd(scenario: Scenario, judged: dict[str, Any], seed: int) -> float:
    team = build_team(scenario, "scale", "fixed")
    team.policies |= judged
    world = drawn(scenario, seed)
    return run(world, build_workload(world, seed), seed, team, "trial").meters["scaling_usd"]


def trials(first: int, count: int) -> range:
    """Seeds that are kept for one purpose."""
    return range(TRAINING_SEEDS + first, TRAINING_SEEDS + first + count)


def best_fixed(scenario: Scenario) -> str:
    """The candidate that costs least when it always decides."""
    costs = {name: sum(fixed(scenario, name, seed) for seed in trials(_FALLBACK, _TRIALS)) for name in CANDIDATES}
    return min(costs, key=lambda name: costs[name])


class ScalePlusLearner:
    """Collects run by run, and fits anew after each."""

    def __init__(self, scenario: Scenario, seed: int, every: int) -> None:
        self.scenario, self.seed, self.every = scenario, seed, every
        self.rows, self.unit, self.fallback = Rows.none(), 0, ""

    def step(self) -> Progress:
        """One run; before the first, the best fixed policy is found."""
        if not self.fallback:
            self.fallback = best_fixed(self.scenario)
        collector = Collector(self.fallback, self.every, self._chooser(1.0) if self.unit >= _FOLLOWING else None)
        selected(self.scenario, collector, self.fallback, TRAINING_SEEDS + 1000 * self.seed + self.unit)
        self.rows = self.rows.with_more(collector.rows, self.unit)
        self.unit += 1
        figures = {"rows": float(len(self.rows.cost))}
        return Progress(saved_by(self.rows, self.seed), len(collector.rows), figures)

    def _chooser(self, caution: float) -> ScalePlus | None:
        if len(self.rows.cost) == 0:
            return None
        weights, scale = fitted(self.rows, self.seed)
        return ScalePlus(CANDIDATES, self.fallback, Bets(weights, scale, caution))

    def _cost(self, caution: float, seed: int) -> float:
        chooser = self._chooser(caution)
        if chooser is None:
            return fixed(self.scenario, self.fallback, seed)
        return selected(self.scenario, chooser, self.fallback, seed)

    def _caution(self) -> float:
        """With which whole runs cost least."""
        costs = {each: sum(self._cost(each, seed) for seed in trials(_CAUTION, _TRIALS)) for each in CAUTIONS}
        return min(costs, key=lambda each: costs[each])

    def _proof(self, caution: float) -> dict[str, Any]:
        """USD that choosing saves against the fallback alone, run by run; clear of zero, or it is no proof."""
        seeds = trials(_PROOF, _PROOFS)
        alone = np.array([fixed(self.scenario, self.fallback, seed) for seed in seeds])
        saved = alone - np.array([self._cost(caution, seed) for seed in seeds])
        low, high = t_interval(saved) or (0.0, 0.0)
        return {
            "first_seed": seeds[0], "runs": len(seeds), "fallback_usd": round(float(alone.mean()), 6),
            "saved_usd": round(float(saved.mean()), 6), "ci95": [round(low, 6), round(high, 6)],
        }  # fmt: skip

    def state(self) -> tuple[State, dict[str, Any]]:
        """The rows; all else follows from them."""
        rows = self.rows
        arrays: State = {"difference": rows.difference, "context": rows.context, "cost": rows.cost, "run": rows.run}
        return arrays, {"unit": self.unit, "fallback": self.fallback}

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on from there."""
        self.rows = Rows(*(np.array(arrays[name]) for name in ("difference", "context", "cost", "run")))
        self.unit, self.fallback = int(meta["unit"]), str(meta["fallback"])

    def trained(self) -> Trained:
        """The selector as it stands."""
        if len(self.rows.cost) == 0:
            raise TrimtabError(
                f"policy = {NAME!r}: no window was labelled, workload.duration must be {self.every + 1} windows or more"
            )
        weights, scale = fitted(self.rows, self.seed)
        caution = self._caution()
        proof = self._proof(caution)
        settings = {
            "decision": "scale",
            "candidates": list(CANDIDATES),
            "fallback": self.fallback,
            "models": MODELS,
            "caution": caution,
            "proven": proof["ci95"][0] > 0.0,
            "proof": proof,
            "difference": list(DIFFERENCE),
            "context": list(CONTEXT),
        }
        features = scale_feature_names(self.scenario)
        about = Description(decision="select", policy=NAME, recipe="best", features=features, settings=settings)
        return Trained(about, {"weights": weights.astype(np.float32), "scale": scale.astype(np.float32)})


@dataclass(frozen=True)
class Plus:
    """On the scenario that it is for."""

    unit: str = "runs"
    budget: int = 16
    every: int = 1

    def start(self, scenario: Scenario, seed: int, budget: int) -> ScalePlusLearner:
        """Before the first run."""
        if scenario.violation_price <= 0.0 or not any(group.price for group in scenario.hosts):
            raise TrimtabError(
                f"policy = {NAME!r} weighs instances against violations: hosts.price and violation_price = "
                f"{scenario.violation_price:g} must be above 0, as in autoscale-select"
            )
        return ScalePlusLearner(scenario, seed, self.every)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """Seeds of the runs and of the trials, and the prices that labels were made with."""
        prices = {"core_hour_usd": 3600.0 * core_price(scenario), "violation_usd": scenario.violation_price}
        return {"seeds": [TRAINING_SEEDS, TRAINING_SEEDS + 999_999], "prices": prices}


BEST = Plus()
