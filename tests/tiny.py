"""A tiny policy that is really learned, for tests of training: a linear place score, by evolution strategies."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from trimtab import place
from trimtab.control.run import build_team, run
from trimtab.learn.recipe import RECIPES, TRAINING_SEEDS, Progress, State
from trimtab.learn.state import generator_state, restored_generator
from trimtab.policies import registry
from trimtab.policies.place.decorator import PlacePolicy
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.digest import digest
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload

FEATURES = ("inflight", "warm", "memory")
PAIRS, SPREAD, RATE = 2, 0.5, 0.3
SIGNALS: dict[int, int] = {}
"""Signals that this process sends to itself in the midst of a unit: no test has to hit the moment."""
TIMES = 1


@place("tiny")
def score(request, host, weights):  # type: ignore[no-untyped-def]
    """A weighted sum of three figures of a host, each about 1."""
    warm = 1.0 if host.warm > 0 else 0.0
    return weights[0] * host.inflight / host.cores + weights[1] * warm + weights[2] * host.memory_free / host.memory


def with_weights(weights: np.ndarray) -> PlacePolicy:
    """The policy with other weights; compiled once for all of them."""
    policy = replace(score, weights=tuple(weights.astype(float).tolist()))
    policy.__dict__["compiled"] = score.compiled
    return policy


def build(trained: Trained, parameters: dict[str, Any]) -> Any:
    """What the registry calls to make a policy of a trained folder."""
    trained.expect(FEATURES, {"weights": (3,)})
    return with_weights(trained.arrays["weights"])


class TinyLearner:
    """Antithetic evolution strategies: the score is minus the mean completion time."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.weights = np.zeros(3)
        self.generator = np.random.default_rng(seed)
        self.workload = TRAINING_SEEDS

    def step(self) -> Progress:
        if self.workload - TRAINING_SEEDS + 1 in SIGNALS:
            for _ in range(TIMES):
                os.kill(os.getpid(), SIGNALS[self.workload - TRAINING_SEEDS + 1])
        noise = self.generator.normal(size=(PAIRS, 3))
        gains = np.zeros(PAIRS)
        rewards, steps = [], 0
        drawn = build_workload(self.scenario, self.workload)
        for pair in range(PAIRS):
            for sign in (1.0, -1.0):
                team = build_team(self.scenario, "place", "least-connections")
                team.policies["place"] = with_weights(self.weights + sign * SPREAD * noise[pair])
                outcome = run(self.scenario, drawn, self.workload, team, "tiny")
                rewards.append(-float(np.nanmean(outcome.fct)))
                gains[pair] += sign * rewards[-1]
                steps += len(drawn)
        self.workload += 1
        self.weights = self.weights + RATE * np.sign(gains) @ noise / PAIRS
        return Progress(float(np.mean(rewards)), steps, {"norm": float(np.linalg.norm(self.weights))})

    def state(self) -> tuple[State, dict[str, Any]]:
        return {"weights": self.weights.copy()}, {
            "generator": generator_state(self.generator),
            "workload": self.workload,
        }

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        self.weights = arrays["weights"].copy()
        self.generator = restored_generator(meta["generator"])
        self.workload = int(meta["workload"])

    def trained(self) -> Trained:
        about = Description(decision="place", policy="tiny", recipe="best", features=FEATURES)
        return Trained(about, {"weights": self.weights})


class BrokenLearner(TinyLearner):
    """Its reward, a figure, or a weight is not a number from the fourth generation on."""

    def __init__(self, scenario: Scenario, seed: int, what: str) -> None:
        super().__init__(scenario, seed)
        self.what, self.done = what, 0

    def step(self) -> Progress:
        self.done += 1
        bad = self.done >= 4
        if bad and self.what == "weights":
            self.weights = np.array([math.inf, 0.0, 0.0])
        return Progress(
            math.nan if bad and self.what == "reward" else -1.0,
            10,
            {"loss": math.inf if bad and self.what == "loss" else 0.5},
        )


class TinyRecipe:
    """The recipe ``best``, or one that breaks."""

    unit = "generations"
    budget = 6

    def __init__(self, broken: str | None = None) -> None:
        self.broken = broken

    def start(self, scenario: Scenario, seed: int, budget: int) -> TinyLearner:
        return TinyLearner(scenario, seed) if self.broken is None else BrokenLearner(scenario, seed, self.broken)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        return {"scenarios": {scenario.name: digest(scenario)}, "seeds": f"{TRAINING_SEEDS} on"}


recipe = TinyRecipe()
reward, loss, weights = TinyRecipe("reward"), TinyRecipe("loss"), TinyRecipe("weights")

NAMES = {"best": "recipe", "broken-reward": "reward", "broken-loss": "loss", "broken-weights": "weights"}


def register() -> None:
    """Make the policy and its recipes known, as a file of Trimtab's own would be."""
    registry.LEARNED["place"]["tiny"] = __name__
    for name, attribute in NAMES.items():
        RECIPES["place", "tiny", name] = f"{__name__}:{attribute}"


def unregister() -> None:
    """Undo :func:`register`."""
    registry.LEARNED["place"].pop("tiny", None)
    for name in NAMES:
        RECIPES.pop(("place", "tiny", name), None)


def environment() -> dict[str, str]:
    """For a process that imports this module."""
    root = str(Path(__file__).resolve().parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}


def limit(size: int) -> None:
    """From now on no file of this process may grow beyond ``size`` bytes."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def kill_at_flush(count: int) -> None:
    """Die while a file is being written, as by SIGKILL or a power cut, when that many have been flushed to disk."""
    import signal

    fsync, calls = os.fsync, []

    def flush(handle: int) -> None:
        calls.append(handle)
        if len(calls) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        fsync(handle)

    os.fsync = flush


def code(before: str = "") -> str:
    """For ``python -c``: the command line with this policy known, after something else."""
    return f"from tests import tiny; tiny.register(); {before}; from trimtab.cli import main; main()"


BUDGET = 20
TRAIN = ("train", "faasrank-m2", "--policy", "tiny", "--set", "workload.duration=20 s", "--set", "workload.calls=40")
WHOLE = ("--budget", str(BUDGET), "--evaluation-seeds", "2")
SHORT = (*TRAIN, "--budget", "5", "--evaluation-seeds", "2", "--checkpoint-every", "0")
