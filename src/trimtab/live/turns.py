"""Whose turn it is: asynchronous calls of many functions share a bounded number of places, none starves another."""

from __future__ import annotations

from collections import Counter, deque

AT_ONCE = 64
"""Calls that run at a time, all functions together …"""
AT_LEAST = 4
"""… but so many of each function whatever the others do: 64 calls that sleep must not hold up everybody."""


class Turns:
    """Calls that wait by function, served in turn, each function's first in, first out."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[str]] = {}
        """In the order of turns: a function that was served goes to the end."""
        self._running: Counter[str] = Counter()
        self.waiting = 0

    def join(self, activation: str, function: str) -> None:
        """A call waits from now on."""
        self._waiting.setdefault(function, deque()).append(activation)
        self.waiting += 1

    def take(self) -> tuple[str, str] | None:
        """The next call and its function, which runs from now on; None if none may."""
        total = self._running.total()
        for function in self._waiting:
            if self._may_run(function, total):
                return self._take(function), function
        return None

    def _may_run(self, function: str, total: int) -> bool:
        own = self._running[function]
        if own < AT_LEAST:
            return True
        # alone it may have every place, beside others that wait half of them
        return total < AT_ONCE and (own < AT_ONCE // 2 or len(self._waiting) == 1)

    def _take(self, function: str) -> str:
        queue = self._waiting.pop(function)
        activation = queue.popleft()
        if queue:
            self._waiting[function] = queue
        self._running[function] += 1
        self.waiting -= 1
        return activation

    def leave(self, function: str) -> None:
        """A call of this function has ended."""
        self._running[function] -= 1
        if self._running[function] == 0:
            del self._running[function]

    def clear(self) -> None:
        """Nobody waits any more."""
        self._waiting.clear()
        self.waiting = 0
