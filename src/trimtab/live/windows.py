"""What a selector sees of real calls in a window, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.live.function import Deployed
from trimtab.live.servers import Server
from trimtab.policies.select.contract import State, WindowOutcome

FEATURES = ("in flight by core", "queued by core", "success rate")
"""Of a state; its context is 1 and the same."""


@dataclass(frozen=True, slots=True)
class _Counts:
    """Of one deployment up to a moment."""

    arrivals: int = 0
    ended: int = 0
    failed: int = 0
    """Too late, or with an error; where there is no deadline nothing is late."""


class CallWindows:
    """Observes the calls of all functions window by window."""

    def __init__(self, functions: Mapping[str, Deployed], servers: Sequence[Server], now: float) -> None:
        self._functions, self._servers = functions, servers
        self._cores = sum(server.cores for server in servers)
        self._begin(now)

    def _begin(self, now: float) -> None:
        self._since = self._sampled = now
        self._inflight = self._queued = 0.0
        self._counts = self._read()

    def _read(self) -> dict[int, _Counts]:
        """By deployment: another version of a function counts from 0 again."""
        return {
            each.number: _Counts(
                each.counters.arrivals, each.counters.completions + each.counters.failures, each.counters.violations
            )
            for each in self._functions.values()
        }

    def sample(self, now: float) -> None:
        """Look at what changes from moment to moment; it is averaged over time."""
        functions, elapsed = self._functions.values(), now - self._sampled
        waiting = sum(len(each.queue) for each in functions) + sum(len(each.queue) for each in self._servers)
        self._inflight += elapsed * sum(each.inflight for each in functions)
        self._queued += elapsed * waiting
        self._sampled = now

    def close(self, policy: str, now: float) -> tuple[State, WindowOutcome]:
        """The window ends: what was seen in it and what came of it; the next one begins."""
        seconds, after = max(now - self._since, 1e-9), self._read()
        pairs = [(self._counts.get(number, _Counts()), found) for number, found in after.items()]
        failed = sum(found.failed - before.failed for before, found in pairs)
        ended = sum(found.ended - before.ended for before, found in pairs)
        outcome = WindowOutcome(policy, succeeded=ended - failed, failed=failed, rejected=0)
        features = np.array(
            [self._inflight / seconds / self._cores, self._queued / seconds / self._cores, outcome.success]
        )
        demand = sum(found.arrivals - before.arrivals for before, found in pairs) / seconds
        self._begin(now)
        return State(policy, features, np.concatenate([[1.0], features]), demand), outcome
