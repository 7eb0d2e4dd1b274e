"""Runs that are over, kept to be played again: taking their tables back is much faster than building them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.sim.simulation import Simulation

_MOST_BYTES = 256e6
"""What all copies together may take."""
_GROWING = ("active", "instances", "heap", "timers")

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class _Kept:
    simulation: Simulation
    core: Any
    """The tables as they were at the start; a run that needed more room has others."""
    pairs: tuple[tuple[Bytes, Bytes], ...]
    """The bytes of each table that a run changes, and how they were at the start."""

    @property
    def is_whole(self) -> bool:
        now = self.simulation.core
        return all(getattr(now, name) is getattr(self.core, name) for name in _GROWING)


class Runs:
    """By seed; at most so many that their copies do not take too much memory."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        """By the identity of a run, whether it is being played or over."""
        self._over: dict[int, list[_Kept]] = {}
        self._bytes = 0

    def remember(self, simulation: Simulation) -> None:
        """A run that has just been built: keep a copy of its tables."""
        pairs = tuple((each, each.copy()) for each in _changing(simulation))
        size = sum(copy.nbytes for _, copy in pairs)
        if self._bytes + size <= _MOST_BYTES:
            self._bytes += size
            self._kept[id(simulation)] = _Kept(simulation, simulation.core, pairs)

    def give(self, simulation: Simulation) -> None:
        """A run that is over."""
        kept = self._kept.get(id(simulation))
        if kept is not None and kept.is_whole:
            self._over.setdefault(simulation.seed, []).append(kept)
        elif kept is not None:
            del self._kept[id(simulation)]
            self._bytes -= sum(copy.nbytes for _, copy in kept.pairs)

    def take(self, seed: int) -> Simulation | None:
        """A run of this seed as it was at its start; None if there is none."""
        if not self._over.get(seed):
            return None
        kept = self._over[seed].pop()
        for table, start in kept.pairs:
            np.copyto(table, start)
        return kept.simulation


def _changing(simulation: Simulation) -> Iterator[Bytes]:
    """The tables that a run changes, as bytes; what a policy writes before it reads is left out."""
    columns = simulation.columns
    minds = [array for mind in (simulation.mind, simulation.route_mind) for array in mind[:-1]]
    for array in (*simulation.core, columns.streams, columns.series, columns.rows, columns.idle_times, *minds,
                  simulation.fault_random):  # fmt: skip
        yield array.reshape(-1).view(np.uint8)
