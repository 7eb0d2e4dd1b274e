"""CMA-ES: direct search for a weight vector, by samples around a mean whose shape follows what worked.

Hansen's covariance matrix adaptation with mirrored samples, of each pair of which only the better one becomes
a parent (Auger, Brockhoff and Hansen, 2011: without that, mirrored steps cancel and the step size shrinks).
Only the order of the losses counts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.learn.state import generator_state, restored_generator

Floats = npt.NDArray[np.float64]
_ARRAYS = ("mean", "covariance", "path", "step_path")


class Evolution:
    """A search distribution: ``ask`` for candidates, ``tell`` their losses."""

    def __init__(self, start: Floats, step: float, pairs: int, seed: int) -> None:
        if pairs < 2 or step <= 0.0:
            raise TrimtabError(f"evolution: pairs = {pairs}, step = {step}, must be at least 2 and above 0")
        size = len(start)
        self.mean = np.array(start, np.float64)
        self.step = step
        self.covariance = np.eye(size)
        self.path, self.step_path = np.zeros(size), np.zeros(size)
        self.generation = 0
        self.pairs = pairs
        self._random = np.random.default_rng(seed)
        self._drawn = np.zeros((0, size))
        weights = math.log(pairs + 1.0) - np.log(np.arange(1.0, pairs + 1.0))
        self._weights = weights / weights.sum()
        parents = 1.0 / float((self._weights**2).sum())
        self._parents = parents
        self._of_path = (4 + parents / size) / (size + 4 + 2 * parents / size)
        self._of_step = (parents + 2) / (size + parents + 5)
        self._rank_one = 2 / ((size + 1.3) ** 2 + parents)
        self._rank_many = min(1 - self._rank_one, 2 * (parents - 2 + 1 / parents) / ((size + 2) ** 2 + parents))
        self._damping = 1 + 2 * max(0.0, math.sqrt((parents - 1) / (size + 1)) - 1) + self._of_step
        self._length = math.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size**2))
        """Expected length of a standard-normal vector."""

    def ask(self) -> Floats:
        """Candidates, one a row: the second half mirrors the first."""
        values, vectors = self._axes()
        normal = self._random.standard_normal((self.pairs, len(self.mean)))
        self._drawn = normal * np.sqrt(values) @ vectors.T
        return np.concatenate([self.mean + self.step * self._drawn, self.mean - self.step * self._drawn])

    def tell(self, losses: Floats) -> None:
        """Move towards the better ones; ``losses`` are in the order of ``ask``."""
        if len(losses) != 2 * len(self._drawn) or not len(losses):
            raise TrimtabError(f"evolution: {len(losses)} losses, must be one for each of {2 * len(self._drawn)}")
        loss = np.where(np.isfinite(losses), losses, np.inf)
        first, second = loss[: self.pairs], loss[self.pairs :]
        better = np.where((first <= second)[:, None], self._drawn, -self._drawn)
        order = np.argsort(np.minimum(first, second), kind="stable")
        parents = better[order]
        move = self._weights @ parents
        self.mean = self.mean + self.step * move
        self.generation += 1
        self._adapt(move, parents)

    def _adapt(self, move: Floats, parents: Floats) -> None:
        values, vectors = self._axes()
        white = vectors @ ((vectors.T @ move) / np.sqrt(values))
        keep, more = 1 - self._of_step, math.sqrt(self._of_step * (2 - self._of_step) * self._parents)
        self.step_path = keep * self.step_path + more * white
        length = float(np.linalg.norm(self.step_path))
        settled = math.sqrt(1 - keep ** (2 * self.generation))
        moving = length / settled < (1.4 + 2 / (len(self.mean) + 1)) * self._length
        self.path = (1 - self._of_path) * self.path
        if moving:
            self.path = self.path + math.sqrt(self._of_path * (2 - self._of_path) * self._parents) * move
        lost = 0.0 if moving else self._rank_one * self._of_path * (2 - self._of_path)
        self.covariance = (
            (1 - self._rank_one - self._rank_many + lost) * self.covariance
            + self._rank_one * np.outer(self.path, self.path)
            + self._rank_many * (parents.T * self._weights) @ parents
        )
        self.covariance = (self.covariance + self.covariance.T) / 2
        self.step *= math.exp(min(1.0, self._of_step / self._damping * (length / self._length - 1)))

    def _axes(self) -> tuple[Floats, Floats]:
        values, vectors = np.linalg.eigh(self.covariance)
        return np.maximum(values, 1e-20), vectors

    def state(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """All that the search depends on between ``tell`` and ``ask``."""
        arrays = {name: getattr(self, name).copy() for name in _ARRAYS}
        arrays["step"] = np.array([self.step])
        return arrays, {"generation": self.generation, "random": generator_state(self._random)}

    def restore(self, arrays: dict[str, npt.NDArray[Any]], meta: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        for name in _ARRAYS:
            if arrays[name].shape != getattr(self, name).shape:
                raise TrimtabError(
                    f"evolution: {name} has shape {arrays[name].shape}, must be {getattr(self, name).shape}"
                )
            setattr(self, name, np.array(arrays[name], np.float64))
        self.step = float(arrays["step"][0])
        self.generation = int(meta["generation"])
        self._random = restored_generator(meta["random"])


class AveragedSearch:
    """A search whose result is a running mean of its means.

    A generation's mean follows its own runs a little; the average over some does not.
    """

    def __init__(self, start: Floats, step: float, pairs: int, seed: int) -> None:
        self._evolution = Evolution(start, step, pairs, seed)
        self._average = np.array(start, np.float64)

    def _follow(self, share: float) -> None:
        self._average = self._average + share * (self._evolution.mean - self._average)

    def state(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """The search distribution and its average mean."""
        arrays, meta = self._evolution.state()
        return {**arrays, "average": self._average.copy()}, meta

    def restore(self, arrays: dict[str, npt.NDArray[Any]], meta: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        self._evolution.restore(arrays, meta)
        self._average = np.array(arrays["average"], np.float64)
