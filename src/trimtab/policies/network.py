"""Small dense networks without a deep-learning library: by numpy in the control loop, compiled in the engine.

Weights are one flat vector, layer after layer: the matrix (inputs × outputs, row by row), then the biases.
Hidden layers end in tanh, the last one is linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from trimtab.sim.kernel import kernel, routine

Floats = npt.NDArray[np.float64]

_LARGEST = 9.0
"""tanh(9) differs from 1 by 3e-8."""


def count(layers: Sequence[int]) -> int:
    """Weights of a network with these layer sizes."""
    return sum((inputs + 1) * outputs for inputs, outputs in pairwise(layers))


def flatten(matrices: Sequence[Floats], biases: Sequence[Floats]) -> Floats:
    """One vector of all layers; a matrix is inputs × outputs."""
    parts = [part for matrix, bias in zip(matrices, biases, strict=True) for part in (matrix.ravel(), bias.ravel())]
    return np.concatenate(parts).astype(np.float64)


def forward(weights: Floats, layers: Sequence[int], inputs: Floats) -> Floats:
    """Outputs for rows of inputs, by numpy."""
    values, start = np.atleast_2d(inputs), 0
    for position, (wide, narrow) in enumerate(pairwise(layers)):
        matrix = weights[start : start + wide * narrow].reshape(wide, narrow)
        start += wide * narrow
        values = values @ matrix + weights[start : start + narrow]
        start += narrow
        if position < len(layers) - 2:
            values = np.tanh(values)
    return values


@kernel
def fast_tanh(value):
    """tanh to 1e-7 as a ratio of polynomials: the compiler makes vector instructions of it."""
    x = min(max(value, -_LARGEST), _LARGEST)
    square = x * x
    top = -2.76076847742355e-16
    top = top * square + 2.00018790482477e-13
    top = top * square - 8.60467152213735e-11
    top = top * square + 5.12229709037114e-08
    top = top * square + 1.48572235717979e-05
    top = top * square + 6.37261928875436e-04
    top = top * square + 4.89352455891786e-03
    bottom = 1.19825839466702e-06
    bottom = bottom * square + 1.18534705686654e-04
    bottom = bottom * square + 2.26843463243900e-03
    bottom = bottom * square + 4.89352518554385e-03
    return x * top / bottom


@routine
def dense(weights, start, inputs, first, wide, outputs, begin, narrow, hidden):
    """One layer: ``inputs[first:first + wide]`` to ``outputs[begin:begin + narrow]``; returns where the next begins."""
    bias = start + wide * narrow
    for column in range(narrow):
        outputs[begin + column] = weights[bias + column]
    for row in range(wide):
        value = inputs[first + row]
        line = start + row * narrow
        for column in range(narrow):
            outputs[begin + column] += value * weights[line + column]
    if hidden:
        for column in range(narrow):
            outputs[begin + column] = fast_tanh(outputs[begin + column])
    return bias + narrow


@routine
def score_32_16(weights, start, inputs, wide):
    """The network inputs-32-16-1 from ``weights[start]`` on; ``inputs`` needs 48 places more."""
    start = dense(weights, start, inputs, 0, wide, inputs, wide, 32, True)
    start = dense(weights, start, inputs, wide, 32, inputs, wide + 32, 16, True)
    value = weights[start + 16]
    for row in range(16):
        value += inputs[wide + 32 + row] * weights[start + row]
    return value
