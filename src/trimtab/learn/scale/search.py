"""CMA-ES: direct search over a few numbers, each between 0 and 1 (Hansen, "The CMA Evolution Strategy", 2016)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.learn.recipe import State

Floats = npt.NDArray[np.float64]


class Search:
    """Draws candidates around a mean, and moves the mean, the width and the shape towards the best of them."""

    def __init__(self, first: Floats, width: float, population: int, seed: int) -> None:
        self.mean, self.width, self.population = first.astype(np.float64), width, population
        size = len(first)
        self.shape, self.path, self.width_path = np.eye(size), np.zeros(size), np.zeros(size)
        self.best, self.best_value = self.mean.copy(), math.inf
        self.random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(42,))))
        parents = population // 2
        weights = math.log(parents + 0.5) - np.log(np.arange(1, parents + 1))
        self.weights = weights / weights.sum()
        self.effective = 1.0 / float((self.weights**2).sum())

    def generation(self, value: Callable[[Floats], float]) -> Floats:
        """One generation; returns the values of its candidates, smaller is better."""
        root: Floats = np.linalg.cholesky(self.shape).astype(np.float64)
        candidates = self.mean + self.width * self.random.standard_normal((self.population, len(self.mean))) @ root.T
        inside = np.clip(candidates, 0.0, 1.0)
        values = np.array([value(each) for each in inside])
        # what had to be clipped is a little worse than what was inside, so that the search comes back
        judged = values + 0.1 * ((candidates - inside) ** 2).sum(axis=1)
        order = np.argsort(judged, kind="stable")
        if values[order[0]] < self.best_value:
            self.best, self.best_value = inside[order[0]].copy(), float(values[order[0]])
        self._move(candidates[order[: len(self.weights)]], root)
        return values

    def _move(self, chosen: Floats, root: Floats) -> None:
        size, effective = len(self.mean), self.effective
        before = self.mean
        self.mean = self.weights @ chosen
        step = (self.mean - before) / self.width
        directions = (chosen - before) / self.width
        pace = (effective + 2) / (size + effective + 5)
        damping = 1 + 2 * max(0.0, math.sqrt((effective - 1) / (size + 1)) - 1) + pace
        self.width_path = (1 - pace) * self.width_path
        self.width_path += math.sqrt(pace * (2 - pace) * effective) * np.linalg.solve(root, step)
        typical = math.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size * size))
        memory = 4 / (size + 4)
        self.path = (1 - memory) * self.path + math.sqrt(memory * (2 - memory) * effective) * step
        one = 2 / ((size + 1.3) ** 2 + effective)
        many = min(1 - one, 2 * (effective - 2 + 1 / effective) / ((size + 2) ** 2 + effective))
        self.shape = (1 - one - many) * self.shape + one * np.outer(self.path, self.path)
        self.shape += many * (directions.T * self.weights) @ directions
        self.width *= math.exp(pace / damping * (float(np.linalg.norm(self.width_path)) / typical - 1))

    def state(self) -> tuple[State, dict[str, Any]]:
        """All that the search depends on."""
        names = ("mean", "shape", "path", "width_path", "best")
        arrays = {name: getattr(self, name).copy() for name in names}
        arrays["numbers"] = np.array([self.width, self.best_value])
        return arrays, {"random": self.random.bit_generator.state}

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on."""
        for name in ("mean", "shape", "path", "width_path", "best"):
            setattr(self, name, arrays[name].copy())
        self.width, self.best_value = float(arrays["numbers"][0]), float(arrays["numbers"][1])
        self.random.bit_generator.state = meta["random"]
