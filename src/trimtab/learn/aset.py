"""How ``aset`` is learned as its paper describes: a deep Q-network over episodes of windows.

The paper names DQN with ε-greedy exploration and gives no numbers: all of ``Settings`` is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trimtab.learn.aset_calibration import Ground
from trimtab.learn.aset_episode import FAILURES, SUCCESS, Reward
from trimtab.learn.aset_proof import proven
from trimtab.learn.aset_replay import Batch, Replay
from trimtab.learn.convolution import ConvolutionNetwork
from trimtab.learn.recipe import Progress, State
from trimtab.learn.state import (
    generator_state,
    module_state,
    optimiser_state,
    restore_module,
    restore_optimiser,
    restored_generator,
)
from trimtab.policies.select.aset import STEPS
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Settings:
    """Numbers of a recipe."""

    name: str = "paper"
    reward: Reward = SUCCESS
    discount: float = 0.9
    learning_rate: float = 5e-4
    batch: int = 32
    capacity: int = 20_000
    """Transitions that are remembered."""
    begin: int = 256
    """Transitions before the first update; from then on one update a window."""
    target_every: int = 250
    """Updates between two copies to the target network."""
    least_exploration: float = 0.05
    explored: float = 0.6
    """Share of the budget over which exploration falls from 1 to its least."""
    timeout: float = 300.0
    """H, in seconds."""
    threshold: float = 0.3
    """θ: success rate over a minute below which an episode ends."""


def exploration(settings: Settings, done: int, budget: int) -> float:
    """ε of an episode: from 1 in a straight line to its least, then constant."""
    share = done / max(settings.explored * budget, 1.0)
    return max(1.0 - (1.0 - settings.least_exploration) * share, settings.least_exploration)


class AsetLearner:
    """ASET's agent in training; a unit is an episode."""

    def __init__(self, scenario: Scenario, seed: int, budget: int, settings: Settings) -> None:
        torch.set_num_threads(1)
        self.settings, self.budget, self.seed = settings, budget, seed
        self.ground = Ground(scenario)
        self._random = np.random.default_rng((seed, 21))
        sizes = STEPS, len(self.ground.features), len(self.ground.names)
        self._network, self._target = ConvolutionNetwork(*sizes, seed), ConvolutionNetwork(*sizes, seed)
        self._optimiser = torch.optim.Adam(self._network.parameters(), settings.learning_rate)
        self._replay = Replay(STEPS, settings.capacity)
        self._episodes = self._updates = 0

    def step(self) -> Progress:
        """Play one episode, learning after every window."""
        calibration, settings = self.ground.calibration, self.settings
        greed = exploration(settings, self._episodes, self.budget)
        episode = self.ground.episode(self.seed, self._episodes, settings.timeout, settings.threshold)
        self._replay.begin(calibration.normal(episode.first))
        rewards, losses = [], []
        while True:
            action = self._act(greed)
            step = episode.step(self.ground.names[action])
            rewards.append(settings.reward(step.outcome))
            self._replay.add(action, rewards[-1], calibration.normal(step.features), step.terminated)
            if len(self._replay) >= settings.begin:
                losses.append(self._update())
            if step.terminated or step.truncated:
                break
        self._episodes += 1
        figures = {"exploration": greed, "windows": float(len(rewards)), "updates": float(self._updates)}
        return Progress(
            float(np.mean(rewards)), len(rewards), figures | ({"loss": float(np.mean(losses))} if losses else {})
        )

    def _act(self, greed: float) -> int:
        if self._random.random() < greed:
            return int(self._random.integers(len(self.ground.names)))
        with torch.no_grad():
            return int(self._network(torch.from_numpy(self._replay.state()[np.newaxis])).argmax())

    def _update(self) -> float:
        loss = self._loss(self._replay.sample(self._random, self.settings.batch))
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), 10.0)
        self._optimiser.step()
        self._updates += 1
        if self._updates % self.settings.target_every == 0:
            self._target.load_state_dict(self._network.state_dict())
        return float(loss.detach())

    def _loss(self, batch: Batch) -> torch.Tensor:
        """Huber loss to reward plus discounted best value of what follows; a time limit is not an end."""
        with torch.no_grad():
            following = self._target(torch.from_numpy(batch.following)).max(1).values
            goal = torch.from_numpy(batch.rewards)
            goal = goal + self.settings.discount * torch.from_numpy(batch.hopeful) * following
        values = self._network(torch.from_numpy(batch.states))
        taken = values.gather(1, torch.from_numpy(batch.actions)[:, None])[:, 0]
        return torch.nn.functional.smooth_l1_loss(taken, goal)

    def state(self) -> tuple[State, dict[str, Any]]:
        """Networks, optimiser, experience, random stream."""
        moments, settings = optimiser_state("adam", self._optimiser)
        arrays = module_state("network", self._network) | module_state("target", self._target)
        meta = {
            "episodes": self._episodes,
            "updates": self._updates,
            "optimiser": settings,
            "random": generator_state(self._random),
        }
        return arrays | moments | self._replay.arrays(), meta

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on from there."""
        restore_module("network", self._network, arrays)
        restore_module("target", self._target, arrays)
        restore_optimiser("adam", self._optimiser, arrays, meta["optimiser"])
        self._replay.restore(arrays)
        self._episodes, self._updates = int(meta["episodes"]), int(meta["updates"])
        self._random = restored_generator(meta["random"])

    def trained(self) -> Trained:
        """The network as it stands."""
        return exported(self._network, self.ground, self.settings.name)


def exported(network: ConvolutionNetwork, ground: Ground, recipe: str) -> Trained:
    """A network as a trained policy, held against its fallback."""
    calibration = ground.calibration
    fallback = ground.fallback
    expected = calibration.expectations[fallback]
    settings = {
        "candidates": list(ground.names),
        "fallback": fallback,
        "steps": STEPS,
        "margin": 0.0,
        "expectation": {
            "demand": list(expected.demand), "rate": list(expected.rate), "tolerance": expected.tolerance,
        },
    }  # fmt: skip
    arrays = network.arrays() | {"mean": calibration.mean, "scale": calibration.scale}
    description = Description(
        decision="select", policy="aset", recipe=recipe, features=ground.features, settings=settings
    )
    return proven(Trained(description, arrays), ground)


@dataclass(frozen=True)
class AsetRecipe:
    """The paper's way."""

    settings: Settings
    unit: str = "episodes"
    budget: int = 200

    def start(self, scenario: Scenario, seed: int, budget: int) -> AsetLearner:
        """A learner before its first episode."""
        return AsetLearner(scenario, seed, budget, self.settings)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """The scenario at its own rate; workloads are drawn anew for every episode."""
        return Ground(scenario).seeds() | {"episode_seconds": self.settings.timeout}


paper = AsetRecipe(Settings())
failures = AsetRecipe(Settings(name="paper-failures", reward=FAILURES))
