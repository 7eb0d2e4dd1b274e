"""A small LSTM by numpy that continues a series of counts, one step a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.policies.assign.contract import Floats
from trimtab.policies.assign.dense import sigmoid, softplus

FEATURES = ("arrivals",)


@dataclass(frozen=True)
class Cell:
    """The weights; gates in the order input, forget, cell, output."""

    inward: Floats
    """4 x hidden values for the one input."""
    recurrent: Floats
    """Hidden x (4 x hidden)."""
    bias: Floats
    outward: Floats
    """Hidden values for the one output."""
    offset: float

    def step(self, value: float, memory: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Hidden and cell state after a value."""
        hidden, cell = memory
        gates = scaled(value) * self.inward + hidden @ self.recurrent + self.bias
        enter, forget, candidate, leave = np.split(gates, 4)
        cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(candidate)
        return sigmoid(leave) * np.tanh(cell), cell

    def expected(self, hidden: Floats) -> float:
        """Mean of the next value."""
        return float(softplus(np.array([hidden @ self.outward + self.offset]))[0][0])


def scaled(value: float) -> float:
    """A count as the network sees it: the root evens out the spread of Poisson counts."""
    return float(np.sqrt(value))


class Lstm:
    """A series, and what the network remembers of it."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        size = len(cell.outward)
        self._memory = np.zeros(size), np.zeros(size)

    def add(self, value: float) -> None:
        """The next value."""
        self._memory = self.cell.step(value, self._memory)

    def ahead(self, steps: int) -> float:
        """Sum of the next values to be expected, each fed back as if it had come."""
        memory, total = self._memory, 0.0
        for _ in range(steps):
            value = self.cell.expected(memory[0])
            total += value
            memory = self.cell.step(value, memory)
        return total
