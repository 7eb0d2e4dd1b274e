"""Actor and critic in torch: 26-32-16-1 each, tanh between layers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from trimtab.policies.network import flatten
from trimtab.policies.place.faasrank import LAYERS

Floats = npt.NDArray[np.float64]


class ActorCritic(nn.Module):
    """The paper's policy network: two networks of one shape, 2,818 parameters."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.set_num_threads(1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.actor, self.critic = _dense(), _dense()

    def log_probabilities(self, inputs: torch.Tensor, feasible: torch.Tensor) -> torch.Tensor:
        """Equation 4, as logarithms: decisions × servers; those that are not feasible have none."""
        scores = cast(torch.Tensor, self.actor(inputs)).squeeze(-1)
        return torch.log_softmax(scores.masked_fill(~feasible, -torch.inf), dim=-1)

    def baseline(self, inputs: torch.Tensor, feasible: torch.Tensor) -> torch.Tensor:
        """Equation 5: the mean of the critic's values over the servers."""
        values = cast(torch.Tensor, self.critic(inputs)).squeeze(-1)
        return (values * feasible).sum(dim=-1) / feasible.sum(dim=-1)


def _dense() -> nn.Sequential:
    layers: list[nn.Module] = []
    for wide, narrow in pairwise(LAYERS):
        layers += [nn.Linear(wide, narrow), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def flat(network: nn.Sequential) -> Floats:
    """Weights in the order of :mod:`trimtab.policies.network`."""
    layers = [layer for layer in network if isinstance(layer, nn.Linear)]
    matrices = [layer.weight.detach().numpy().T.astype(np.float64) for layer in layers]
    return flatten(matrices, [layer.bias.detach().numpy().astype(np.float64) for layer in layers])


def fill(network: nn.Sequential, weights: npt.NDArray[Any]) -> None:
    """The inverse of :func:`flat`."""
    start = 0
    with torch.no_grad():
        for layer in network:
            if isinstance(layer, nn.Linear):
                narrow, wide = layer.weight.shape
                matrix = np.asarray(weights[start : start + wide * narrow], np.float32).reshape(wide, narrow)
                start += wide * narrow
                layer.weight.copy_(torch.from_numpy(matrix.T.copy()))
                layer.bias.copy_(torch.from_numpy(np.array(weights[start : start + narrow], np.float32)))
                start += narrow
