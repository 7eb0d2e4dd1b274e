"""What each variant is used for: streams, load, answers, and the CPU that its workers really used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trimtab.live.edge.message import Reply
from trimtab.sim.simulation import Simulation

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class VariantUse:
    """One variant, its workers at all sites together."""

    variant: str
    workers: int
    streams: int
    load: float
    """Queries a second of the streams that are bound to it now."""
    answered: int
    batches: int
    busy_seconds: float
    """Time in which its workers worked, by the clock on the wall."""
    cpu_seconds: float
    """Core-seconds that its workers used for that."""
    recall: float | None
    """Share of its answers that found the face; None where nothing was looked at."""


class Monitor:
    """Adds up what workers report."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.names = [row.name for row in simulation.deployed]
        count = len(self.names)
        self.busy, self.cpu = np.zeros(count), np.zeros(count)
        self.answered, self.batches, self.found = (np.zeros(count, np.int64) for _ in range(3))
        self._begun = np.full(count, -np.inf)

    def note(self, worker: int, reply: Reply, found: bool) -> None:
        """A worker answered a query; a batch is counted with the first of its answers."""
        self.answered[worker] += 1
        self.found[worker] += found
        self.cpu[worker] += reply.cpu
        if reply.begun != self._begun[worker]:
            self._begun[worker] = reply.begun
            self.busy[worker] += reply.seconds
            self.batches[worker] += 1

    def use(self, looked: bool) -> tuple[VariantUse, ...]:
        """Every variant, in the order of first mention."""
        variants = [name.partition("/")[2].partition("#")[0] for name in self.names]
        return tuple(
            self._variant(variant, np.array([each == variant for each in variants]), looked)
            for variant in dict.fromkeys(variants)
        )

    def _variant(self, variant: str, mine: npt.NDArray[np.bool_], looked: bool) -> VariantUse:
        functions = self._simulation.core.functions
        answered = int(self.answered[mine].sum())
        return VariantUse(
            variant=variant,
            workers=int(mine.sum()),
            streams=int(functions["streams"][mine].sum()),
            load=float(functions["load"][mine].sum()),
            answered=answered,
            batches=int(self.batches[mine].sum()),
            busy_seconds=float(self.busy[mine].sum()),
            cpu_seconds=float(self.cpu[mine].sum()),
            recall=int(self.found[mine].sum()) / answered if looked and answered else None,
        )
