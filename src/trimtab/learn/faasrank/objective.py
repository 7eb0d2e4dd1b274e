"""What is optimised: equations 5 to 7, 10 and 11."""

from __future__ import annotations

import torch


def surrogate(ratio: torch.Tensor, advantage: torch.Tensor, clip: float) -> torch.Tensor:
    """PPO-clip, equations 10 and 11; ``ratio`` is π_θ(a|s) ÷ π_θk(a|s)."""
    limit = torch.where(advantage >= 0.0, (1.0 + clip) * advantage, (1.0 - clip) * advantage)
    return torch.minimum(ratio * advantage, limit)


def actor_objective(ratio: torch.Tensor, advantage: torch.Tensor, clip: float) -> torch.Tensor:
    """Equation 6: its mean over the decisions, to be maximised."""
    return surrogate(ratio, advantage, clip).mean()


def critic_loss(baseline: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    """Equation 7: mean squared error, to be minimised."""
    return (baseline - returns).square().mean()
