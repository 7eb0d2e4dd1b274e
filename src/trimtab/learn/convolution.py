"""The network of ``policies/select/convolution`` in torch, for training; the same weights by the same names."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from trimtab.policies.select.convolution import AFTER, BEFORE, CHANNELS, HIDDEN, KERNEL, shapes
from trimtab.policies.trained import Arrays


class ConvolutionNetwork(nn.Module):
    """Batches of states (time × features) to one value for each action."""

    def __init__(self, steps: int, features: int, actions: int, seed: int) -> None:
        super().__init__()
        flat = shapes(steps, features, actions)["hidden.weight"][1]
        # built from a generator of its own, so that other users of torch do not change the weights
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.convolution1, self.convolution2, self.convolution3 = (
                nn.Conv2d(inputs, outputs, KERNEL) for inputs, outputs in pairwise((1, *CHANNELS))
            )
            self.hidden = nn.Linear(flat, HIDDEN)
            self.output = nn.Linear(HIDDEN, actions)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Values of all actions."""
        values = states.unsqueeze(1)
        for layer in (self.convolution1, self.convolution2, self.convolution3):
            padded = nn.functional.pad(values, (BEFORE, AFTER, BEFORE, AFTER))
            values = nn.functional.max_pool2d(torch.relu(layer(padded)), 2)
        found: torch.Tensor = self.output(torch.relu(self.hidden(values.flatten(1))))
        return found

    def arrays(self) -> Arrays:
        """The weights as numpy arrays, copied."""
        return {name: value.detach().numpy().copy() for name, value in self.state_dict().items()}
