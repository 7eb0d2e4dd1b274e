"""How long calls took: quantiles of the last of them, and a histogram for the time between two looks."""

from __future__ import annotations

from collections import deque

import numpy as np

_KEPT = 2_000


class Latency:
    """Of one function, or of all."""

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=_KEPT)
        self._since: list[float] = []
        self.seconds, self.count = 0.0, 0
        """Of execution alone, over all calls."""

    def add(self, latency: float, execution: float) -> None:
        """A call was answered."""
        self._recent.append(latency)
        if len(self._since) < 100_000:
            self._since.append(latency)
        self.seconds += execution
        self.count += 1

    @property
    def mean_execution(self) -> float | None:
        """Seconds of execution without waiting; None before the first call."""
        return self.seconds / self.count if self.count else None

    def quantiles(self) -> dict[str, float] | None:
        """Of the last calls, in seconds; None if there were none."""
        return _named(self._recent)

    def since(self) -> dict[str, float] | None:
        """Of the calls since this was last asked."""
        found = _named(self._since)
        self._since = []
        return found


def _named(values: deque[float] | list[float]) -> dict[str, float] | None:
    if not values:
        return None
    p50, p95, p99 = np.quantile(np.asarray(values), [0.5, 0.95, 0.99]).tolist()
    return {"p50": p50, "p95": p95, "p99": p99}
