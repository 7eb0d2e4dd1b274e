"""A small convolutional network by numpy: three layers over time × features, then two dense ones.

Each convolution is 4 × 4 with zeros around, keeps the size, ends in ReLU, and is halved both ways by taking
the largest of 2 × 2. One dense hidden layer with ReLU follows, then one output for each action.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

CHANNELS = (8, 16, 16)
HIDDEN = 256
KERNEL = 4
BEFORE, AFTER = 1, 2
"""Zeros before and after, so that a 4 × 4 kernel keeps the size."""
LEAST_STEPS = 2 ** len(CHANNELS)
"""Rows that are left after halving must be one at least."""

Array = npt.NDArray[Any]


def shapes(steps: int, features: int, actions: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all weights, as they are stored."""
    found: dict[str, tuple[int, ...]] = {}
    for layer, (inputs, outputs) in enumerate(pairwise((1, *CHANNELS)), 1):
        found[f"convolution{layer}.weight"] = (outputs, inputs, KERNEL, KERNEL)
        found[f"convolution{layer}.bias"] = (outputs,)
    halved = 2 ** len(CHANNELS)
    flat = CHANNELS[-1] * (steps // halved) * (features // halved)
    found |= {"hidden.weight": (HIDDEN, flat), "hidden.bias": (HIDDEN,)}
    return found | {"output.weight": (actions, HIDDEN), "output.bias": (actions,)}


def forward(weights: Mapping[str, Array], state: Array) -> Array:
    """The value of each action for one state (time × features)."""
    values = state[np.newaxis].astype(np.float32)
    for layer in range(1, len(CHANNELS) + 1):
        values = _convolved(values, weights[f"convolution{layer}.weight"], weights[f"convolution{layer}.bias"])
        values = _halved(np.maximum(values, 0.0))
    hidden = np.maximum(weights["hidden.weight"] @ values.ravel() + weights["hidden.bias"], 0.0)
    return np.asarray(weights["output.weight"] @ hidden + weights["output.bias"])


def _convolved(values: Array, kernels: Array, biases: Array) -> Array:
    padded = np.pad(values, ((0, 0), (BEFORE, AFTER), (BEFORE, AFTER)))
    patches = np.lib.stride_tricks.sliding_window_view(padded, (KERNEL, KERNEL), axis=(1, 2))
    return np.asarray(np.tensordot(kernels, patches, ((1, 2, 3), (0, 3, 4))) + biases[:, np.newaxis, np.newaxis])


def _halved(values: Array) -> Array:
    channels, rows, columns = values.shape
    even = values[:, : rows // 2 * 2, : columns // 2 * 2]
    return np.asarray(even.reshape(channels, rows // 2, 2, columns // 2, 2).max((2, 4)))
