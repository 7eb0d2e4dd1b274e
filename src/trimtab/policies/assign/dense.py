"""A small dense network with softplus between its layers, its gradient, and its product with the Hessian, by numpy.

Rows are hosts. Plans are found by descending along the inputs, so derivatives are by the inputs; the weights stay as
they were trained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from trimtab.policies.assign.contract import Floats


@dataclass(frozen=True)
class Pass:
    """What a forward pass leaves for the derivatives."""

    outputs: Floats
    slopes: tuple[Floats, ...]
    """Derivative of each hidden layer's softplus."""


@dataclass(frozen=True)
class Dense:
    """Layers as (matrix of inputs by outputs, biases); the last one is linear."""

    layers: tuple[tuple[Floats, Floats], ...]

    def forward(self, inputs: Floats) -> Pass:
        """Outputs for rows of inputs."""
        values, slopes = inputs, []
        for matrix, bias in self.layers[:-1]:
            values, slope = softplus(values @ matrix + bias)
            slopes.append(slope)
        matrix, bias = self.layers[-1]
        return Pass(values @ matrix + bias, tuple(slopes))

    def backward(self, made: Pass, weights: Floats) -> Floats:
        """Gradient of ``weights`` · outputs by the inputs, row by row."""
        return self._down(made, weights)[-1] @ self.layers[0][0].T

    def _down(self, made: Pass, weights: Floats) -> list[Floats]:
        """The gradient by what enters each hidden layer's softplus, last layer first."""
        found: list[Floats] = []
        signal = weights
        for (matrix, _), slope in zip(self.layers[:0:-1], made.slopes[::-1], strict=True):
            signal = (signal @ matrix.T) * slope
            found.append(signal)
        return found

    def hessian_product(self, made: Pass, weights: Floats, direction: Floats) -> Floats:
        """The Hessian of ``weights`` · outputs by the inputs times ``direction``, row by row, exactly.

        The gradient is differentiated once more along the direction (Pearlmutter's method), at the price of another
        forward and backward pass.
        """
        entering: list[Floats] = []
        moving = direction
        for (matrix, _), slope in zip(self.layers[:-1], made.slopes, strict=True):
            moving = moving @ matrix
            entering.append(moving)
            moving = moving * slope
        down = self._down(made, weights)
        signal, change = weights, np.zeros_like(weights)
        for place, (matrix, _) in enumerate(self.layers[:0:-1]):
            slope, enters = made.slopes[-1 - place], entering[-1 - place]
            above = signal @ matrix.T
            change = (change @ matrix.T) * slope + above * slope * (1.0 - slope) * enters
            signal = down[place]
        product: Floats = change @ self.layers[0][0].T
        return product


def softplus(values: Floats) -> tuple[Floats, Floats]:
    """log(1 + exp(x)) and its derivative."""
    small = np.exp(-np.abs(values))
    slope = np.where(values >= 0.0, 1.0, small) / (1.0 + small)
    return np.maximum(values, 0.0) + np.log1p(small), slope


def sigmoid(values: Floats) -> Floats:
    """1 / (1 + exp(-x))."""
    return softplus(values)[1]


def names_of(name: str, sizes: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a network's arrays in a trained policy."""
    shapes: dict[str, tuple[int, ...]] = {}
    for place, (wide, narrow) in enumerate(pairwise(sizes)):
        shapes |= {f"{name}.{place}.matrix": (wide, narrow), f"{name}.{place}.bias": (narrow,)}
    return shapes


def network_of(name: str, sizes: Sequence[int], arrays: Mapping[str, Floats]) -> Dense:
    """The network with the arrays of a trained policy."""
    layers = [(arrays[f"{name}.{place}.matrix"], arrays[f"{name}.{place}.bias"]) for place in range(len(sizes) - 1)]
    return Dense(tuple((matrix.astype(np.float64), bias.astype(np.float64)) for matrix, bias in layers))
