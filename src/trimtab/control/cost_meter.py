"""What an interval cost, and φ: MetaNet's cost per completed task.

    φ = USD of hosts and schedulers in the interval over tasks ended an interval, the mean of the last six intervals

Most intervals see one task end or none, so that the cost of one of them over its own tasks would say nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from trimtab.sim.meters import meter_all
from trimtab.sim.simulation import Simulation

INTERVALS = 6
"""Over which tasks that ended are counted."""


@dataclass(frozen=True)
class Interval:
    """What came of an interval."""

    completed: int = 0
    late: int = 0
    failed: int = 0
    usd: float = 0.0
    phi: float = 0.0


class CostMeter:
    """Reads a simulation from interval to interval."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._ended: deque[int] = deque(maxlen=INTERVALS)
        self._before = self._read(0.0)
        self._sum, self._count = 0.0, 0

    def _read(self, charged: float) -> tuple[int, int, int, float]:
        core = self._simulation.core
        meter_all(core)
        world, hosts = core.world[0], core.hosts
        paid = float((hosts["on_seconds"] * hosts["price"]).sum()) / 3600.0
        return int(world["completed"]), int(world["late"]), int(world["failed"]), paid + charged

    def close(self, charged: float) -> Interval:
        """The interval is over; ``charged`` is what schedulers were paid from the start of the run on."""
        before, after = self._before, self._read(charged)
        completed, late, failed = after[0] - before[0], after[1] - before[1], after[2] - before[2]
        self._ended.append(completed + failed)
        usd = after[3] - before[3]
        # no task in a minute: as if one had ended in twice that time
        phi = usd / max(sum(self._ended) / len(self._ended), 0.5 / INTERVALS)
        self._before = after
        self._sum, self._count = self._sum + phi, self._count + 1
        return Interval(completed, late, failed, usd, phi)

    @property
    def mean(self) -> float:
        """φ over all intervals so far."""
        return self._sum / max(self._count, 1)
