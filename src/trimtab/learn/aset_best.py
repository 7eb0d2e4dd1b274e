"""Our own way to learn ``aset``'s network: what would each policy have done from this very state?

A run is branched at every window: each of a few policies decides for half a minute on the same future, then the
best static one goes on, and the differences in success are labels. They are noisy, so a ridge regression on the
last window learns from them first, and the network learns the regression. The values of the network are points
of success over the static policy that did best in the calibration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trimtab.control.futures import successes
from trimtab.learn.aset import exported
from trimtab.learn.aset_calibration import Ground
from trimtab.learn.aset_episode import Episode
from trimtab.learn.convolution import ConvolutionNetwork
from trimtab.learn.recipe import Progress, State
from trimtab.learn.ridge import Ridge
from trimtab.learn.state import (
    generator_state,
    module_state,
    optimiser_state,
    restore_module,
    restore_optimiser,
    restored_generator,
)
from trimtab.policies.select.aset import STEPS
from trimtab.policies.trained import Trained
from trimtab.scenario.model import Scenario

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Settings:
    """Numbers of the recipe."""

    name: str = "best"
    seconds: float = 400.0
    """Length of an episode."""
    filled: float = 80.0
    """Seconds until streams have filled the system; no labels before."""
    every: int = 2
    """Windows from one state with labels to the next: neighbours share most of their future."""
    held: float = 30.0
    """Seconds for which a policy decides in a branch."""
    beyond: float = 40.0
    """Seconds after that which count too."""
    rivals: int = 3
    """Static policies, from the best on, that are tried in every state; of the others one at random."""
    begin: int = 300
    """States before the regression takes part in deciding."""
    exploration: float = 0.2
    learning_rate: float = 1e-3
    batch: int = 32
    updates: int = 25
    """Of the network after each episode."""


class CounterfactualLearner:
    """A unit is an episode: branches from each of its windows, then updates of regression and network."""

    def __init__(self, scenario: Scenario, seed: int, budget: int, settings: Settings) -> None:
        torch.set_num_threads(1)
        self.settings, self.budget, self.seed = settings, budget, seed
        self.ground = Ground(scenario)
        self._random = np.random.default_rng((seed, 22))
        actions, size = len(self.ground.names), len(self.ground.features)
        self._network = ConvolutionNetwork(STEPS, size, actions, seed)
        self._optimiser = torch.optim.Adam(self._network.parameters(), settings.learning_rate)
        self._states = np.zeros((0, STEPS, size), np.float32)
        self._labels = np.zeros((0, actions))
        """Points over the best static policy; NaN for those that were not tried."""
        self._episodes = 0
        self._ridge: Ridge | None = None

    def step(self) -> Progress:
        """Collect an episode, then learn from all of them."""
        settings, ground = self.settings, self.ground
        extra = settings.held + settings.beyond
        episode = ground.episode(self.seed, self._episodes, settings.seconds, 0.0, extra)
        mixture = self._random.dirichlet(np.ones(settings.rivals))
        rows = np.zeros((STEPS, len(ground.features)), np.float32)
        success, chosen, ended = [], ground.calibration.ranking[0], False
        while not ended:
            step = episode.step(chosen)
            success.append(step.outcome.success)
            rows = np.vstack([rows[1:], ground.calibration.normal(step.features)[np.newaxis]])
            ended = step.truncated
            if episode.simulation.now >= settings.filled and len(success) % settings.every == 0:
                self._states = np.concatenate([self._states, rows[np.newaxis]])
                self._labels = np.concatenate([self._labels, self._try(episode)[np.newaxis]])
            chosen = self._behave(rows, mixture)
        self._episodes += 1
        loss = self._learn()
        figures = {"states": float(len(self._states)), "loss": loss, "strength": self._teacher.strength}
        return Progress(float(np.mean(success)), len(success), figures)

    def _behave(self, rows: Array, mixture: Array) -> str:
        """Every other episode follows the regression, once it has seen enough; the rest mixes the best policies."""
        names, ranking = self.ground.names, self.ground.calibration.ranking
        explores = self._random.random() < self.settings.exploration
        if self._episodes % 2 == 1 and len(self._states) >= self.settings.begin and not explores:
            return names[int(self._teacher.predict(rows[-1:])[0].argmax())]
        return ranking[int(self._random.choice(len(mixture), p=mixture))]

    def _try(self, episode: Episode) -> Array:
        """Points of success over the best static policy that each policy tried would have brought from here."""
        ground, settings = self.ground, self.settings
        ranking = ground.calibration.ranking
        other = ranking[settings.rivals + int(self._random.integers(len(ranking) - settings.rivals))]
        reached = {name: self._branch(episode, name) for name in (*ranking[: settings.rivals], other)}
        labels = np.full(len(ground.names), np.nan)
        for name, share in reached.items():
            labels[ground.names.index(name)] = 100.0 * (share - reached[ranking[0]])
        return labels

    def _branch(self, episode: Episode, name: str) -> float:
        simulation, settings = episode.simulation, self.settings
        now, policies = simulation.now, self.ground.policies
        trial = simulation.branch()
        trial.switch("route", policies[name])
        trial.advance(now + settings.held)
        trial.switch("route", policies[self.ground.calibration.ranking[0]])
        end = now + settings.held + settings.beyond
        trial.advance(end)
        first, last = np.searchsorted(simulation.workload.arrival, (now, end))
        return successes(trial, now, end) / max(int(last - first), 1)

    @property
    def _teacher(self) -> Ridge:
        """The regression on all labels so far."""
        if self._ridge is None or self._ridge.rows != len(self._labels):
            self._ridge = Ridge.fit(self._states[:, -1].astype(np.float64), self._labels)
        return self._ridge

    def _learn(self) -> float:
        """The network follows the regression on states drawn from all that were seen."""
        goals = self._teacher.predict(self._states[:, -1].astype(np.float64)).astype(np.float32)
        losses = []
        for _ in range(self.settings.updates):
            drawn = self._random.integers(len(self._states), size=self.settings.batch)
            values = self._network(torch.from_numpy(self._states[drawn]))
            loss = torch.nn.functional.mse_loss(values, torch.from_numpy(goals[drawn]))
            self._optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self._optimiser.step()
            losses.append(float(loss.detach()))
        return float(np.mean(losses))

    def state(self) -> tuple[State, dict[str, Any]]:
        """Network, optimiser, labels, random stream."""
        moments, settings = optimiser_state("adam", self._optimiser)
        arrays = module_state("network", self._network) | moments | {"states": self._states.copy()}
        # a file of numbers: where a policy was not tried is said apart
        arrays |= {"labels": np.nan_to_num(self._labels), "tried": (~np.isnan(self._labels)).astype(np.int64)}
        meta = {"episodes": self._episodes, "optimiser": settings, "random": generator_state(self._random)}
        return arrays, meta

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on from there."""
        restore_module("network", self._network, arrays)
        restore_optimiser("adam", self._optimiser, arrays, meta["optimiser"])
        self._states, self._labels = arrays["states"].copy(), np.where(arrays["tried"] == 1, arrays["labels"], np.nan)
        self._episodes, self._ridge = int(meta["episodes"]), None
        self._random = restored_generator(meta["random"])

    def trained(self) -> Trained:
        """The network as it stands."""
        return exported(self._network, self.ground, self.settings.name)


@dataclass(frozen=True)
class CounterfactualRecipe:
    """Our own way."""

    settings: Settings
    unit: str = "episodes"
    budget: int = 45

    def start(self, scenario: Scenario, seed: int, budget: int) -> CounterfactualLearner:
        """A learner before its first episode."""
        return CounterfactualLearner(scenario, seed, budget, self.settings)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """The scenario at its own rate; workloads are drawn anew for every episode."""
        return Ground(scenario).seeds() | {"episode_seconds": self.settings.seconds}


best = CounterfactualRecipe(Settings())
