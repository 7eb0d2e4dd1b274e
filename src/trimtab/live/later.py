"""Asynchronous calls: accepted into the ledger, then run; after a restart those that had not ended run again.

At least once: a call whose instance, server or gateway went may have had an effect before it is tried again.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import deque

from trimtab.live.failure import CallFailed
from trimtab.live.ledger import Ledger
from trimtab.live.platform import Platform

ATTEMPTS = 5
"""Times that a call is tried when its instance goes; a function's own error is final."""
_AT_ONCE = 64
_MOST = 100_000
_AGAIN = 0.1
_PRUNE_EVERY = 10_000

log = logging.getLogger("trimtab.live")


class Later:
    """Runs what the ledger holds."""

    def __init__(self, platform: Platform, ledger: Ledger) -> None:
        self.platform, self.ledger = platform, ledger
        self._waiting: deque[str] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._ended = 0

    async def resume(self) -> None:
        """Take up what an earlier gateway left."""
        left = await self.ledger.unfinished()
        if left:
            log.info("calls taken up again", extra={"calls": len(left)})
        self._waiting.extend(left)
        self._go_on()

    async def accept(self, function: str, args: bytes) -> str:
        """Accept a call; it is on the disk when this returns."""
        if len(self._waiting) >= _MOST:
            raise CallFailed(429, f"{_MOST} asynchronous calls wait already")
        activation = uuid.uuid4().hex
        await self.ledger.accept(activation, function, args)
        self._waiting.append(activation)
        self._go_on()
        return activation

    def _go_on(self) -> None:
        while self._waiting and len(self._running) < _AT_ONCE:
            task = asyncio.get_running_loop().create_task(self._run(self._waiting.popleft()))
            self._running.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("asynchronous call", exc_info=task.exception())
        self._go_on()

    async def _run(self, activation: str) -> None:
        name, args = await self.ledger.begin(activation)
        result: bytes | None = None
        error: str | None = "it was never tried"
        for attempt in range(1, ATTEMPTS + 1):
            function = self.platform.functions.get(name)
            if function is None:
                error = f"function {name!r} is not deployed"
                break
            try:
                result, error = (await self.platform.call(function, args, activation)).body, None
                break
            except CallFailed as failed:
                error = failed.message
                if not failed.again or attempt == ATTEMPTS:
                    break
            await asyncio.sleep(_AGAIN * 2**attempt)
        await self.ledger.end(activation, result, error)
        self._ended += 1
        if self._ended % _PRUNE_EVERY == 0:
            await self.ledger.prune()

    async def close(self) -> None:
        """Stop; what has not ended is taken up by the next gateway."""
        self._waiting.clear()
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
