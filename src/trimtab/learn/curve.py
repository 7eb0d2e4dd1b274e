"""The learning curve: a row a unit of training, kept with the checkpoint and written to ``curve.csv``."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from trimtab.learn.recipe import Progress, State

_PREFIX = "curve."
_POINTS = 100


class Curve:
    """Reward, decisions and figures of each unit so far. A figure that a unit does not have is an empty cell."""

    def __init__(self) -> None:
        self.reward: list[float] = []
        self.steps: list[int] = []
        self._figures: dict[str, list[float]] = {}

    def __len__(self) -> int:
        return len(self.reward)

    def add(self, progress: Progress) -> None:
        """One unit more."""
        for name in progress.figures:
            self._figures.setdefault(name, [math.nan] * len(self))
        for name, values in self._figures.items():
            values.append(float(progress.figures.get(name, math.nan)))
        self.reward.append(float(progress.reward))
        self.steps.append(int(progress.steps))

    def state(self) -> tuple[State, list[str]]:
        """For the checkpoint: columns, and the names of the figures in the order in which they came."""
        arrays: State = {
            f"{_PREFIX}reward": np.array(self.reward, dtype=np.float64),
            f"{_PREFIX}steps": np.array(self.steps, dtype=np.int64),
        }
        for index, values in enumerate(self._figures.values()):
            arrays[f"{_PREFIX}{index}"] = np.array(values, dtype=np.float64)
        return arrays, list(self._figures)

    @classmethod
    def restored(cls, arrays: State, names: list[str]) -> Curve:
        """The curve that :meth:`state` gave."""
        curve = cls()
        curve.reward = arrays[f"{_PREFIX}reward"].tolist()
        curve.steps = arrays[f"{_PREFIX}steps"].tolist()
        curve._figures = {name: arrays[f"{_PREFIX}{index}"].tolist() for index, name in enumerate(names)}
        return curve

    def short(self) -> dict[str, list[float]]:
        """At most a hundred points for ``policy.json``: means of equal stretches, each under its last unit."""
        edges = np.unique(np.linspace(0, len(self), min(len(self), _POINTS) + 1).round().astype(int))
        columns = {"reward": self.reward} | self._figures
        found: dict[str, list[float]] = {"unit": edges[1:].tolist()}
        for name, values in columns.items():
            parts = [np.array(values[first:last]) for first, last in pairwise(edges)]
            parts = [part[~np.isnan(part)] for part in parts]
            if all(len(part) for part in parts):  # a figure that some stretch does not have is left to curve.csv
                found[name] = [float(f"{part.mean():.6g}") for part in parts]
        return found

    def text(self) -> str:
        """``curve.csv``: every digit of every number, so that two curves can be compared to the last bit."""
        lines = [",".join(["unit", "reward", "steps", *map(_quoted, self._figures)])]
        for unit in range(len(self)):
            figures = (values[unit] for values in self._figures.values())
            lines.append(
                ",".join([str(unit + 1), repr(self.reward[unit]), str(self.steps[unit]), *map(_cell, figures)])
            )
        return "\n".join(lines) + "\n"


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def _quoted(name: Any) -> str:
    text = str(name)
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text
