"""Gradient descent (FaaSRank Table II, GD): NumPy fits a linear regression step by step.

args: size (4000 rows), steps (300), seed (1). The rows are drawn; the paper reads them from CouchDB.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FEATURES, NOISE, RATE = 20, 0.1, 0.1


def rows(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard-normal features, and what follows from the weights 1, 2 … 20 with a little noise."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(count, FEATURES))
    return features, features @ np.arange(1.0, FEATURES + 1.0) + NOISE * random.normal(size=count)


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Fit ``size`` rows in ``steps`` steps; the weights, and the mean squared error that is left."""
    size, steps = int(args.get("size", 4000)), int(args.get("steps", 300))
    if size < 10 * FEATURES:
        return {"error": f"size = {size}, must be at least {10 * FEATURES}"}
    features, target = rows(size, int(args.get("seed", 1)))
    weights = np.zeros(FEATURES)
    for _ in range(steps):
        weights -= RATE * (features.T @ (features @ weights - target)) / size
    loss = float(((features @ weights - target) ** 2).mean().round(9))  # BLAS adds up in an order of its own
    return {"size": size, "steps": steps, "loss": loss, "weights": weights.round(6).tolist()}
