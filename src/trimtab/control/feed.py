"""What a scale policy gets to see: the metrics of a platform, some time after they were taken."""

from __future__ import annotations

from typing import Protocol

from trimtab.policies.scale.contract import FunctionMetrics


class Observed(Protocol):
    """A platform that can be observed."""

    def observe(self) -> list[FunctionMetrics]:
        """Metrics of every function since the last look."""


class MetricsFeed:
    """Metrics that arrive ``delay`` seconds late."""

    def __init__(self, platform: Observed, delay: float) -> None:
        self._platform, self._delay = platform, delay
        self._pending: list[tuple[float, list[FunctionMetrics]]] = []

    def observe(self, now: float) -> list[FunctionMetrics] | None:
        """Look, and return the latest metrics that have arrived by now; None before the first."""
        seen = self._platform.observe()
        if self._delay <= 0.0:
            return seen
        self._pending.append((now, seen))
        ready = [each for each in self._pending if each[0] <= now - self._delay]
        if not ready:
            return None
        self._pending = [each for each in self._pending if each[0] >= ready[-1][0]]
        return ready[-1][1]
