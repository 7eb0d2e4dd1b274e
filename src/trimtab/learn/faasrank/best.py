"""Our way to train FaaSRank's network: the same 26 inputs and weights, another baseline.

What an action earns is drowned by what the workload costs anyway: returns of one action differ by thousands of
request-seconds from one moment to the next and from workload to workload, and no network of normalised inputs
can foretell them. So each update plays one fresh workload several times. Arrivals are the same in all of these
episodes, and the mean of their returns at the same arrival is the baseline (input-driven, as in Decima). Rewards
fade out over seconds, as the effect of a placement does; advantages are brought to unit deviation; a bonus on
entropy and the learning rate fall to the end; the policy is the running mean of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trimtab.learn.faasrank.episode import Episode, play
from trimtab.learn.faasrank.learner import Training
from trimtab.learn.faasrank.networks import flat
from trimtab.learn.faasrank.objective import actor_objective
from trimtab.learn.recipe import TRAINING_SEEDS, Progress, State
from trimtab.policies.trained import Trained
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload

Floats = npt.NDArray[np.float64]

EPISODES = 16
"""Of one update, all with the same arrivals and work."""
EPOCHS, CLIP, LEARNING_RATE, ENTROPY = 4, 0.2, 2e-3, 3e-3
FADING = 20.0
"""Seconds after which a reward counts 1/e."""
_LAST = 0.1
"""Share of the learning rate that is left at the end."""
_MEMORY = 0.95
"""Of the running mean of the actor's weights."""
_WORKLOADS = 900_000
_STREAM = 2


def faded_returns(episode: Episode, fading: float = FADING) -> Floats:
    """Rewards from each action on, each less by the time until it."""
    decay = np.exp(-np.diff(episode.time) / fading)
    returns = episode.rewards.copy()
    for index in range(len(returns) - 2, -1, -1):
        returns[index] += decay[index] * returns[index + 1]
    return returns


def advantages(episodes: Sequence[Episode]) -> Floats:
    """Returns less the mean over the episodes at the same arrival, at unit deviation: episodes × decisions."""
    returns = np.stack([faded_returns(each) for each in episodes])
    advantage = returns - returns.mean(axis=0)
    return np.asarray(advantage / (advantage.std() + 1e-8))


class BestLearner(Training):
    """One unit is one update from episodes of one fresh workload."""

    def __init__(self, scenario: Scenario, workloads: Sequence[Scenario], recipe: str, seed: int, budget: int) -> None:
        super().__init__(scenario, recipe, seed, LEARNING_RATE)
        self.workloads, self.budget = workloads, budget
        self.mean = flat(self.networks.actor)

    def step(self) -> Progress:
        """Play, compare, improve."""
        episodes = self.play()
        entropy = self.update(episodes)
        self.units += 1
        self.check()
        memory = min(_MEMORY, 1.0 - 1.0 / self.units)
        self.mean = memory * self.mean + (1.0 - memory) * flat(self.networks.actor)
        seconds = float(np.mean([each.mean_completion for each in episodes]))
        return Progress(-seconds, sum(map(len, episodes)), {"mean_fct_s": seconds, "entropy": entropy})

    def play(self) -> list[Episode]:
        """Episodes of one workload, drawn by the number of this unit alone."""
        random = np.random.default_rng(np.random.SeedSequence([self.seed, self.units], spawn_key=(_STREAM,)))
        scenario = self.workloads[int(random.integers(len(self.workloads)))]
        workload = build_workload(scenario, TRAINING_SEEDS + int(random.integers(_WORKLOADS)))
        weights, first = self.weights(), self.units * EPISODES
        return [play(scenario, workload, self.draw_seed(first + each), weights) for each in range(EPISODES)]

    def update(self, episodes: Sequence[Episode]) -> float:
        """PPO-clip with a bonus on entropy; returns the entropy before the last epoch."""
        inputs = torch.from_numpy(np.concatenate([each.inputs for each in episodes]))
        feasible = torch.from_numpy(np.concatenate([each.feasible for each in episodes]))
        choice = torch.from_numpy(np.concatenate([each.choice for each in episodes]))[:, None]
        before = torch.from_numpy(np.concatenate([each.log_probability for each in episodes]).astype(np.float32))
        advantage = torch.from_numpy(advantages(episodes).ravel().astype(np.float32))
        left = max(1.0 - self.units / self.budget, 0.0)
        for group in self.optimiser.param_groups:
            group["lr"] = LEARNING_RATE * (_LAST + (1.0 - _LAST) * left)
        entropy = torch.zeros(())
        for _ in range(EPOCHS):
            every = self.networks.log_probabilities(inputs, feasible)
            ratio = torch.exp(every.gather(1, choice)[:, 0] - before)
            entropy = -(every.exp() * every.masked_fill(~feasible, 0.0)).sum(dim=-1).mean()
            self.improve(-actor_objective(ratio, advantage, CLIP) - ENTROPY * left * entropy)
        return float(entropy.detach())

    def state(self) -> tuple[State, dict[str, Any]]:
        """Also the running mean."""
        arrays, meta = super().state()
        return arrays | {"mean": self.mean}, meta

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Also the running mean."""
        super().restore(arrays, meta)
        self.mean = np.array(arrays["mean"], np.float64)

    def trained(self) -> Trained:
        """The running mean of the actor; the critic has no part in this recipe and is as it began."""
        policy = super().trained()
        return Trained(policy.description, policy.arrays | {"actor": self.mean.copy()})
