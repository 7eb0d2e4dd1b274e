"""A network for stable-baselines3 that scores every candidate alike: what is learned for one host holds for all."""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3.common.policies import MultiInputActorCriticPolicy
from torch import nn

_FORBIDDEN = -1e8
"""Score of an action that the mask forbids: its probability is zero."""


class Scores(nn.Module):
    """One small network over the row of each candidate; actions beyond the candidates see the mean of the rows."""

    def __init__(self, candidates: int, features: int, actions: int, width: int = 64) -> None:
        super().__init__()
        self._shape, self._actions = (candidates, features), actions
        self.latent_dim_pi, self.latent_dim_vf = actions, width
        self.score = nn.Sequential(
            nn.Linear(features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        self.other = nn.Linear(features, actions - candidates) if actions > candidates else None
        self.value = nn.Sequential(nn.Linear(features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())

    def forward(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores, and what the critic's last layer sees."""
        return self.forward_actor(flat), self.forward_critic(flat)

    def forward_actor(self, flat: torch.Tensor) -> torch.Tensor:
        """A score for each action."""
        rows, mask = self._parts(flat)
        scores = self.score(rows).squeeze(-1)
        if self.other is not None:
            scores = torch.cat([scores, self.other(self._mean(rows, mask))], dim=1)
        return torch.where(mask > 0.5, scores, torch.full_like(scores, _FORBIDDEN))

    def forward_critic(self, flat: torch.Tensor) -> torch.Tensor:
        """The cluster as a whole."""
        rows, mask = self._parts(flat)
        latent: torch.Tensor = self.value(self._mean(rows, mask))
        return latent

    def _parts(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        split = self._shape[0] * self._shape[1]
        return flat[:, :split].reshape(-1, *self._shape), flat[:, split:]

    def _mean(self, rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        there = mask[:, : self._shape[0], None]
        return (rows * there).sum(dim=1) / there.sum(dim=1).clamp(min=1.0)


class ScoringPolicy(MultiInputActorCriticPolicy):
    """For PPO and A2C on ``Place-v0`` and ``Route-v0``: masked, and the same for every candidate."""

    def _build_mlp_extractor(self) -> None:
        spaces: Any = self.observation_space
        shape = spaces["features"].shape
        self.mlp_extractor = Scores(shape[0], shape[1], spaces["mask"].n)  # type: ignore[assignment]

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = nn.Identity()  # scores are the logits
        scores: Any = self.mlp_extractor
        nn.init.orthogonal_(scores.score[-1].weight, gain=0.01)  # to begin with, all candidates are nearly alike
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]
