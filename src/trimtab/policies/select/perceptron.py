"""A small dense network with ReLU between its layers, by numpy: answers, gradients, and steps of plain descent.

Selectors that go on learning while they run use it, and their training does too, so that both compute the same.
Weights are arrays by name (``assign.dense.names_of``); the last layer is linear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Weights = dict[str, Floats]


class Pass(NamedTuple):
    """What a forward pass leaves for the gradient."""

    outputs: Floats
    entered: tuple[Floats, ...]
    """What came into each layer."""


def forward(weights: Mapping[str, Floats], name: str, inputs: Floats) -> Pass:
    """Outputs of the network ``name`` for rows of inputs."""
    values, entered = inputs, []
    layers = _layers(weights, name)
    for place in range(layers):
        entered.append(values)
        values = values @ weights[f"{name}.{place}.matrix"] + weights[f"{name}.{place}.bias"]
        if place < layers - 1:
            values = np.maximum(values, 0.0)
    return Pass(values, tuple(entered))


def backward(weights: Mapping[str, Floats], name: str, made: Pass, signal: Floats) -> tuple[Weights, Floats]:
    """Gradients by the weights and by the inputs, where ``signal`` is the gradient by the outputs."""
    found: Weights = {}
    for place in reversed(range(len(made.entered))):
        values = made.entered[place]
        found[f"{name}.{place}.matrix"] = values.T @ signal
        found[f"{name}.{place}.bias"] = signal.sum(0)
        signal = signal @ weights[f"{name}.{place}.matrix"].T
        if place > 0:
            signal = signal * (values > 0.0)
    return found, signal


def descend(weights: Weights, gradients: Mapping[str, Floats], rate: float) -> None:
    """One step against the gradient, in place."""
    for name, gradient in gradients.items():
        weights[name] -= rate * gradient


def drawn(name: str, sizes: Sequence[int], random: np.random.Generator) -> Weights:
    """First weights for these layer sizes (He et al. 2015), biases of zero."""
    found: Weights = {}
    for place, (wide, narrow) in enumerate(pairwise(sizes)):
        found[f"{name}.{place}.matrix"] = random.normal(0.0, np.sqrt(2.0 / wide), (wide, narrow))
        found[f"{name}.{place}.bias"] = np.zeros(narrow)
    return found


def _layers(weights: Mapping[str, Floats], name: str) -> int:
    return sum(each.startswith(f"{name}.") and each.endswith(".matrix") for each in weights)
