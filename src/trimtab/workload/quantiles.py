"""Distributions given by a few percentiles each: straight lines between them, scaled to the known mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.workload.table import Floats, Ints

CHUNK = 1_000_000
"""Requests drawn at a time, so that the intermediate arrays stay small."""


@dataclass(frozen=True)
class Quantiles:
    """One distribution a row."""

    knots: Floats
    """Probabilities, from 0 to 1."""
    values: Floats
    """Quantile of each row (function) at each knot, not falling."""
    mean: Floats
    """What the draws of each row average to."""

    def draw(self, row: Ints, random: np.random.Generator) -> Floats:
        """A value for each entry of ``row``, by inverse of the distribution function."""
        values = self._scaled()
        drawn = np.empty(len(row))
        for begin in range(0, len(row), CHUNK):
            rows = row[begin : begin + CHUNK]
            uniform = random.random(len(rows))
            left = np.searchsorted(self.knots, uniform, side="right") - 1
            fraction = (uniform - self.knots[left]) / np.diff(self.knots)[left]
            low, high = values[rows, left], values[rows, left + 1]
            drawn[begin : begin + CHUNK] = low + (high - low) * fraction
        return drawn

    def at(self, probability: float) -> Floats:
        """One quantile of every row."""
        values = self._scaled()
        left = min(int(np.searchsorted(self.knots, probability, side="right")) - 1, len(self.knots) - 2)
        fraction = (probability - self.knots[left]) / (self.knots[left + 1] - self.knots[left])
        return np.asarray(values[:, left] + (values[:, left + 1] - values[:, left]) * fraction)

    def deviation(self) -> Floats:
        """Coefficient of variation of every row."""
        values, widths = self._scaled(), np.diff(self.knots)
        low, high = values[:, :-1], values[:, 1:]
        square = ((low**2 + low * high + high**2) / 3) @ widths
        return np.asarray(np.sqrt(np.maximum(square - self.mean**2, 0)) / np.maximum(self.mean, 1e-12))

    def _scaled(self) -> Floats:
        """Straight lines between percentiles overrate long tails; the published mean corrects that."""
        middle = (self.values[:, :-1] + self.values[:, 1:]) / 2
        scale = self.mean / np.maximum(middle @ np.diff(self.knots), 1e-12)
        return np.asarray(self.values * scale[:, None])
