"""Adam over weights by name, for networks whose gradients are computed by numpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from trimtab.learn.recipe import State
from trimtab.learn.state import below
from trimtab.policies.select.perceptron import Floats, Weights

_FIRST, _SECOND, _LEAST = 0.9, 0.999, 1e-8


@dataclass
class Adam:
    """Kingma and Ba 2015, with the decay of weights apart from the gradient (Loshchilov and Hutter 2019)."""

    rate: float
    decay: float = 0.0
    steps: int = 0
    mean: Weights = field(default_factory=dict)
    square: Weights = field(default_factory=dict)

    def step(self, weights: Weights, gradients: Mapping[str, Floats]) -> None:
        """One step, in place."""
        self.steps += 1
        for name, gradient in gradients.items():
            mean = _FIRST * self.mean.get(name, 0.0) + (1.0 - _FIRST) * gradient
            square = _SECOND * self.square.get(name, 0.0) + (1.0 - _SECOND) * gradient**2
            self.mean[name], self.square[name] = mean, square
            move = mean / (1.0 - _FIRST**self.steps)
            spread = np.sqrt(square / (1.0 - _SECOND**self.steps)) + _LEAST
            weights[name] -= self.rate * (move / spread + self.decay * weights[name])

    def arrays(self) -> State:
        """For the checkpoint."""
        found: State = {"steps": np.array(self.steps)}
        for part, held in (("mean", self.mean), ("square", self.square)):
            found |= {f"{part}.{name}": array.copy() for name, array in held.items()}
        return found

    def restore(self, arrays: State) -> None:
        """Go on from there."""
        self.steps = int(arrays["steps"])
        self.mean, self.square = dict(below("mean", arrays)), dict(below("square", arrays))
