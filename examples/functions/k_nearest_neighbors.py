"""K nearest neighbours (FaaSRank Table II, KNN): scikit-learn classifies points by their neighbours.

args: size (2000 points to learn from), seed (1), neighbours (5). The points are drawn: four clouds in eight
dimensions; the paper reads them from CouchDB.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

CLOUDS, DIMENSIONS, ASKED = 4, 8, 500


def points(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points around the corners of a simplex two apart in every own direction, and the cloud of each."""
    cloud = random.integers(CLOUDS, size=count)
    return random.normal(size=(count, DIMENSIONS)) + 2.0 * np.eye(CLOUDS, DIMENSIONS)[cloud], cloud


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Learn from ``size`` points, classify 500 others, tell how many were right."""
    size, neighbours = int(args.get("size", 2000)), int(args.get("neighbours", 5))
    if not 1 <= neighbours <= size:
        return {"error": f"neighbours = {neighbours}, must be 1 to size = {size}"}
    random = np.random.default_rng(int(args.get("seed", 1)))
    known, labels = points(size, random)
    asked, truth = points(ASKED, random)
    model = KNeighborsClassifier(neighbours, algorithm="brute", n_jobs=1).fit(known, labels)
    answers = model.predict(asked)
    return {
        "size": size,
        "accuracy": float((answers == truth).mean()),
        "counts": np.bincount(answers, minlength=CLOUDS).tolist(),
    }
