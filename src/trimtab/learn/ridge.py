"""Ridge regression of several targets, each with labels for some rows only; its strength by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

STRENGTHS = (100.0, 300.0, 1e3, 3e3, 1e4, 3e4)
_FOLDS = 5


@dataclass(frozen=True)
class Ridge:
    """Linear in the inputs, one column of weights a target."""

    weights: Array
    means: Array
    strength: float
    rows: int
    """How many it was fitted on."""

    @classmethod
    def fit(cls, inputs: Array, labels: Array) -> Ridge:
        """The strength that predicts blocks of rows best from the others, then all rows; NaN is no label."""
        folds = np.arange(len(inputs)) * _FOLDS // max(len(inputs), 1)
        error = [sum(_missed(inputs, labels, folds == fold, each) for fold in range(_FOLDS)) for each in STRENGTHS]
        strength = STRENGTHS[int(np.argmin(error))]
        weights, means = _solved(inputs, labels, strength)
        return cls(weights, means, strength, len(inputs))

    def predict(self, inputs: Array) -> Array:
        """All targets for rows of inputs."""
        return np.asarray(inputs @ self.weights + self.means)


def _missed(inputs: Array, labels: Array, held: Array, strength: float) -> float:
    weights, means = _solved(inputs[~held], labels[~held], strength)
    return float(np.nansum((inputs[held] @ weights + means - labels[held]) ** 2))


def _solved(inputs: Array, labels: Array, strength: float) -> tuple[Array, Array]:
    size, targets = inputs.shape[1], labels.shape[1]
    weights, means = np.zeros((size, targets)), np.zeros(targets)
    for target in range(targets):
        known = ~np.isnan(labels[:, target])
        if not known.any():
            continue
        rows, goal = inputs[known], labels[known, target]
        means[target] = goal.mean()
        weights[:, target] = np.linalg.solve(rows.T @ rows + strength * np.eye(size), rows.T @ (goal - means[target]))
    return weights, means
