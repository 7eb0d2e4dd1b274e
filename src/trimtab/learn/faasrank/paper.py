"""Algorithm 1 as the paper gives it: one episode, then five epochs of PPO-clip over all of it.

Returns and advantages are in request-seconds and not scaled, for the paper scales nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from trimtab.learn.faasrank.episode import Episode, play
from trimtab.learn.faasrank.learner import Training
from trimtab.learn.faasrank.objective import actor_objective, critic_loss
from trimtab.learn.recipe import TRAINING_SEEDS, Progress
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload

CLIP, EPOCHS, LEARNING_RATE = 0.2, 5, 2e-4


@dataclass(frozen=True)
class Batch:
    """An episode as tensors, with what the networks said of it before the update."""

    inputs: torch.Tensor
    feasible: torch.Tensor
    choice: torch.Tensor
    log_probability: torch.Tensor
    returns: torch.Tensor
    advantage: torch.Tensor


class PaperLearner(Training):
    """One unit is one episode; the workloads are played in turn, each the same in all its episodes."""

    def __init__(self, scenario: Scenario, workloads: Sequence[Scenario], recipe: str, seed: int) -> None:
        super().__init__(scenario, recipe, seed, LEARNING_RATE)
        self.workloads = [(each, build_workload(each, TRAINING_SEEDS + seed)) for each in workloads]

    def step(self) -> Progress:
        """Lines 3 to 9 of Algorithm 1."""
        scenario, workload = self.workloads[self.units % len(self.workloads)]
        episode = play(scenario, workload, self.draw_seed(self.units), self.weights())
        actor, critic = self.update(self.batch(episode))
        self.units += 1
        self.check()
        figures = {
            "actor_loss": actor,
            "critic_loss": critic,
            "return": float(episode.rewards.sum()),
            "mean_fct_s": episode.mean_completion,
            "entropy": -float(episode.log_probability.mean()),
        }
        return Progress(-episode.mean_completion, len(episode), figures)

    def batch(self, episode: Episode) -> Batch:
        """Returns less the critic's baseline are the advantages (lines 5 to 7)."""
        inputs, feasible = torch.from_numpy(episode.inputs), torch.from_numpy(episode.feasible)
        returns = torch.from_numpy(np.ascontiguousarray(episode.returns, np.float32))
        with torch.no_grad():
            advantage = returns - self.networks.baseline(inputs, feasible)
        return Batch(
            inputs, feasible, torch.from_numpy(episode.choice),
            torch.from_numpy(episode.log_probability.astype(np.float32)), returns, advantage,
        )  # fmt: skip

    def update(self, batch: Batch) -> tuple[float, float]:
        """Lines 8 and 9, in five epochs; returns both losses of the first, before anything changed."""
        first = (0.0, 0.0)
        for epoch in range(EPOCHS):
            actor, critic = self.losses(batch)
            if epoch == 0:
                first = (float(actor.detach()), float(critic.detach()))
            self.improve(actor + critic)
        return first

    def losses(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Minus equation 6, and equation 7; the two share no parameter, so their sum is minimised."""
        every = self.networks.log_probabilities(batch.inputs, batch.feasible)
        chosen = every.gather(1, batch.choice[:, None])[:, 0]
        ratio = torch.exp(chosen - batch.log_probability)
        baseline = self.networks.baseline(batch.inputs, batch.feasible)
        return -actor_objective(ratio, batch.advantage, CLIP), critic_loss(baseline, batch.returns)
