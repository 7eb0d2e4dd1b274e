"""The last decisions, for whoever wants to know why: what was decided, by whom, on which scores, and which guard."""

from __future__ import annotations

import itertools
import time
from collections import deque
from typing import Any

_KEPT = 5_000


class Audit:
    """A bounded list of decisions, each with a rising number."""

    def __init__(self) -> None:
        self._kept: deque[dict[str, Any]] = deque(maxlen=_KEPT)
        self._numbers = itertools.count(1)

    def note(
        self,
        kind: str,
        function: str | None,
        policy: str,
        chosen: Any,
        candidates: list[Any],
        scores: list[float | None] | None,
        seconds: float,
        guard: str | None = None,
        shadow: dict[str, Any] | None = None,
    ) -> None:
        """Remember a decision."""
        self._kept.append(
            {
                "id": next(self._numbers), "time": time.time(), "kind": kind, "function": function, "policy": policy,
                "chosen": chosen, "candidates": candidates, "scores": scores, "microseconds": round(seconds * 1e6, 2),
                "guard": guard, "shadow": shadow,
            }
        )  # fmt: skip

    def after(self, number: int, limit: int) -> list[dict[str, Any]]:
        """Decisions with a higher number, oldest first; without one to begin at, the latest."""
        found = [each for each in itertools.islice(reversed(self._kept), limit if number <= 0 else None)
                 if each["id"] > number]  # fmt: skip
        found.reverse()
        return found[:limit]
