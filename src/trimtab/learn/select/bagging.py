"""Linear models of one label, each fitted on other groups of rows: where they disagree, nobody knows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]


def bagged(inputs: Floats, labels: Floats, groups: Groups, models: int, penalty: float, seed: int) -> Floats:
    """Weights of ridge regressions, a row each, on groups that are drawn with replacement; a group stays together."""
    random = np.random.default_rng(seed)
    names, place = np.unique(groups, return_inverse=True)
    found = [_ridge(inputs, labels, _drawn(len(names), random)[place], penalty) for _ in range(models)]
    return np.array(found)


def _drawn(groups: int, random: np.random.Generator) -> Floats:
    return np.bincount(random.integers(groups, size=groups), minlength=groups).astype(np.float64)


def _ridge(inputs: Floats, labels: Floats, counts: Floats, penalty: float) -> Floats:
    weighted = inputs * counts[:, None]
    normal = inputs.T @ weighted + penalty * np.eye(inputs.shape[1])
    return np.asarray(np.linalg.solve(normal, weighted.T @ labels), np.float64)
