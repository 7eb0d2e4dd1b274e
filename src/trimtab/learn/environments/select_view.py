"""What a selector sees of the last window: every worker (or host), and how the requests fared."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trimtab.sim.meters import meter_all
from trimtab.sim.simulation import Simulation

Floats = npt.NDArray[np.float32]

FEATURES = {
    "route": ("streams", "throughput", "load", "utilisation", "inflight", "queued", "ready", "starting", "accuracy"),
    "place": ("cores", "speed", "inflight", "running", "queued", "starting", "idle", "memory_free", "cpu_utilisation"),
}
"""Columns of a row, one row a worker (route) or a host (place). Counts, rates, cores and GiB are log(1 + x).
``throughput`` (answers a second) and ``cpu_utilisation`` are means over the window, the others as at its end."""
SUMMARY = ("success", "late", "failed", "rejected", "arrivals", "streams", "ended")
"""Shares of the queries that ended in the window, then arrivals, streams that arrived and queries that ended, a
second, as log(1 + x)."""
LIMIT = 100.0
_GIB = 2.0**30
_COUNTS = ("completed", "late", "failed", "rejected", "next_request", "next_stream")


class Window:
    """Differences between the beginning and the end of a window."""

    def __init__(self, simulation: Simulation, decision: str) -> None:
        self._simulation, self._decision = simulation, decision
        self._before = self._after = self._read()

    def _read(self) -> tuple[float, dict[str, int], npt.NDArray[np.float64]]:
        core = self._simulation.core
        meter_all(core)
        world = core.world[0]
        used = core.functions["completions"] if self._decision == "route" else core.hosts["busy_seconds"]
        return self._simulation.now, {name: int(world[name]) for name in _COUNTS}, used.astype(np.float64)

    def close(self) -> None:
        """The window ends now, and the next begins."""
        self._before, self._after = self._after, self._read()

    @property
    def seconds(self) -> float:
        """Its length."""
        return max(self._after[0] - self._before[0], 1e-9)

    def _count(self, name: str) -> int:
        return self._after[1][name] - self._before[1][name]

    @property
    def ended(self) -> int:
        """Queries that ended in it, one way or another."""
        return self._count("completed") + self._count("failed") + self._count("rejected")

    @property
    def success(self) -> float:
        """The share that was answered in time; 1 where none ended."""
        if self.ended == 0:
            return 1.0
        return (self._count("completed") - self._count("late")) / self.ended

    def reward(self, weights: tuple[float, float] | None) -> float:
        """The share of successes, or minus the weighted shares of failed (and late) and rejected ones."""
        if weights is None:
            return self.success
        ended = max(self.ended, 1)
        missed = (self._count("failed") + self._count("late")) / ended
        return -(weights[0] * missed + weights[1] * self._count("rejected") / ended)

    def summary(self) -> Floats:
        """One number for each of SUMMARY."""
        ended, seconds = max(self.ended, 1), self.seconds
        shares = [self._count(name) / ended for name in ("late", "failed", "rejected")]
        rates = [self._count("next_request") / seconds, self._count("next_stream") / seconds, self.ended / seconds]
        return _within([self.success, *shares, *np.log1p(rates)])

    def features(self) -> Floats:
        """One row a worker or a host."""
        used = (self._after[2] - self._before[2]) / self.seconds
        return self._workers(used) if self._decision == "route" else self._hosts(used)

    def _workers(self, answers: npt.NDArray[np.float64]) -> Floats:
        rows = self._simulation.core.functions
        capacity = np.minimum(rows["capacity"], 1e6) * np.maximum(rows["ready"] + rows["starting"], 1)
        counts = [np.log1p(rows[name]) for name in ("inflight", "queued", "ready", "starting")]
        columns = [
            np.log1p(rows["streams"]), np.log1p(answers), np.log1p(rows["load"]), rows["load"] / capacity, *counts,
            rows["accuracy"],
        ]  # fmt: skip
        return _within(np.stack(columns, axis=1))

    def _hosts(self, busy: npt.NDArray[np.float64]) -> Floats:
        rows = self._simulation.core.hosts
        counts = [np.log1p(rows[name]) for name in ("inflight", "running", "queued", "starting", "idle")]
        columns = [
            np.log1p(rows["cores"]), rows["speed"], *counts, np.log1p(np.maximum(rows["memory_free"], 0.0) / _GIB),
            busy / rows["cores"],
        ]  # fmt: skip
        return _within(np.stack(columns, axis=1))


def _within(values: npt.ArrayLike) -> Floats:
    return np.clip(np.asarray(values, np.float32), -LIMIT, LIMIT)
