"""The last hour, second by second, for charts."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from trimtab.live.latency import Latency
from trimtab.live.servers import Server

_SECONDS = 3_600
_BANDS = 1_000


class History:
    """Rows of one second each."""

    def __init__(self) -> None:
        self.completed = self.failed = self.cold = 0
        """Counted since the last row."""
        self._rows: deque[dict[str, Any]] = deque(maxlen=_SECONDS)
        self._latency = Latency()
        self._bands: deque[tuple[float, str]] = deque(maxlen=_BANDS)
        self._due = time.time()

    def band(self, policy: str) -> None:
        """Another policy decides from now on."""
        self._bands.append((time.time(), policy))

    def tick(self, servers: list[Server], cpu: dict[str, float], inflight: int, latency: Latency) -> None:
        """Close the row if its second is over."""
        now = time.time()
        if now < self._due:
            return
        self._due = max(self._due + 1.0, now)
        found: Mapping[str, float | None] = latency.since() or dict.fromkeys(("p50", "p95"))
        self._rows.append(
            {"time": now, "inflight": inflight, "rate": self.completed, "failed": self.failed, "cold": self.cold,
             "p50": found["p50"], "p95": found["p95"], "cpu": {server.name: cpu.get(server.name, 0.0)
                                                               for server in servers}}
        )  # fmt: skip
        self.completed = self.failed = self.cold = 0

    def since(self, seconds: float) -> dict[str, Any]:
        """Columns of the rows of the last seconds."""
        start = time.time() - seconds
        rows = [row for row in self._rows if row["time"] >= start]
        columns: dict[str, Any] = {
            name: [row[name] for row in rows] for name in ("time", "inflight", "rate", "failed", "p50", "p95", "cold")
        }
        names = list(rows[-1]["cpu"]) if rows else []
        columns["cpu"] = {name: [row["cpu"].get(name) for row in rows] for name in names}
        before = [band for band in self._bands if band[0] < start][-1:]
        columns["bands"] = [list(band) for band in (*before, *(band for band in self._bands if band[0] >= start))]
        return columns
