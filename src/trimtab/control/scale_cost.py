"""What scaling costs: cores that instances hold, and violations.

    cost = core-seconds of instances x price of a core-second + violations x price of a violation

Not host-hours: hosts are on whatever a scale policy does, so that their bill tells policies apart by violations alone.
A core-second costs what the hosts cost over their cores, as if what no instance holds were somebody else's.
"""

from __future__ import annotations

from dataclasses import dataclass

from trimtab.control.simulated import SimulatedPlatform
from trimtab.scenario.model import Scenario

VIOLATION = 5.0
"""Core-seconds that a violation is worth where the scenario has no price for it: the price that ``residual`` learned
with."""


def core_price(scenario: Scenario) -> float:
    """USD of a core for a second; 1 where no host has a price, so that costs are core-seconds."""
    priced = [group for group in scenario.hosts if group.price]
    cores = sum(group.count * group.cores for group in priced)
    return sum(group.count * (group.price or 0.0) for group in priced) / cores / 3600.0 if cores else 1.0


def violation_price(scenario: Scenario) -> float:
    """USD of a violation."""
    return scenario.violation_price or VIOLATION * core_price(scenario)


@dataclass(frozen=True)
class Spent:
    """What came of a stretch of time."""

    completed: int
    late: int
    failed: int
    rejected: int
    core_seconds: float
    usd: float

    @property
    def ended(self) -> int:
        """Requests that ended in it."""
        return self.completed + self.failed + self.rejected


class ScaleMeter:
    """Reads a platform from one closing to the next."""

    def __init__(self, platform: SimulatedPlatform) -> None:
        scenario = platform.simulation.scenario
        self.platform = platform
        self._core, self._violation = core_price(scenario), violation_price(scenario)
        platform.bill()
        self._before = self._read()

    def close(self) -> Spent:
        """The stretch is over."""
        self.platform.bill()
        return self.count()

    def count(self) -> Spent:
        """The same without what instances hold from the last bill on."""
        before, after = self._before, self._read()
        # the end of a warm-up sets the bill back to zero
        held = after[4] - (before[4] if after[4] >= before[4] else 0.0)
        completed, late, failed, rejected = (int(after[place] - before[place]) for place in range(4))
        self._before = after
        usd = held * self._core + (late + failed + rejected) * self._violation
        return Spent(completed, late, failed, rejected, held, usd)

    def _read(self) -> tuple[float, ...]:
        world = self.platform.simulation.core.world[0]
        counts = (float(world[name]) for name in ("completed", "late", "failed", "rejected"))
        return (*counts, self.platform.core_seconds)
