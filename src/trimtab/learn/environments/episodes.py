"""Which workloads the episodes of an environment play, one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.control.experiment import Workloads
from trimtab.errors import TrimtabError
from trimtab.learn.recipe import TRAINING_SEEDS
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload
from trimtab.workload.table import Workload

_DRAWN = 2**31
"""How many seeds there are to draw from."""


def scenario_of(given: str | Path | Scenario, changes: Sequence[str] = ()) -> Scenario:
    """A scenario by name, by path, or as it is; ``changes`` are those of ``--set``."""
    if isinstance(given, Scenario):
        if changes:
            raise TrimtabError(f"changes = {list(changes)}, must be empty where the scenario is not a name or a path")
        return given
    return load_scenario(str(given), changes)


def above_zero(name: str, given: float | None) -> float:
    """A limit that was given, infinite without one."""
    if given is not None and not given > 0:
        raise TrimtabError(f"{name} = {given}, must be above 0")
    return math.inf if given is None else given


class Episodes:
    """Seeds in turn; without a list of them every episode draws a training seed of its own."""

    def __init__(
        self,
        scenario: Scenario,
        seeds: Sequence[int] | None,
        kept: Workloads | None = None,
        first: int = 0,
        stride: int = 1,
    ) -> None:
        if seeds is not None and (len(seeds) == 0 or min(seeds) < 0):
            raise TrimtabError(f"seeds = {list(seeds)}, must be None or numbers that are 0 or more")
        self.scenario, self.seeds = scenario, None if seeds is None else tuple(int(seed) for seed in seeds)
        self._first, self._stride, self._played = first, stride, 0
        self._kept = kept or Workloads(scenario)

    def restart(self) -> None:
        """Begin with the first seed again."""
        self._played = 0

    def next(self, random: np.random.Generator, options: dict[str, Any] | None = None) -> int:
        """The seed of the next episode: the one that ``reset`` was asked for, else the next in turn or a drawn one."""
        asked = (options or {}).get("seed")
        if asked is not None:
            return int(asked)
        if self.seeds is None:
            return TRAINING_SEEDS + int(random.integers(_DRAWN))
        seed = self.seeds[(self._first + self._stride * self._played) % len(self.seeds)]
        self._played += 1
        return seed

    def workload(self, seed: int) -> Workload:
        """The requests of a seed; those of listed seeds are drawn once."""
        return build_workload(self.scenario, seed) if self.seeds is None else self._kept[seed]
