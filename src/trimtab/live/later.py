"""Asynchronous calls: accepted into the ledger, then run; after a restart those that had not ended run again.

At least once: a call whose instance, server or gateway went may have had an effect before it is tried again.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import deque

from trimtab.live.chain import call_through
from trimtab.live.failure import CallFailed
from trimtab.live.ledger import Ledger
from trimtab.live.platform import LONGEST_WAIT, Platform, Reply

ATTEMPTS = 5
"""Times that a call is tried when its instance goes; a function's own error is final."""
PATIENCE = 60.0
"""Seconds that a call waits for any server to come up."""
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
        error: str | None
        try:
            result, error = (await self._tried(name, args, activation)).body, None
        except CallFailed as failed:
            error = failed.message
        except Exception as broken:  # a call that was accepted must end, whatever happened here
            log.exception("asynchronous call")
            error = f"the gateway failed: {type(broken).__name__}"
        await self.ledger.end(activation, result, error)
        self._ended += 1
        if self._ended % _PRUNE_EVERY == 0:
            await self.ledger.prune()

    async def _tried(self, name: str, args: bytes, activation: str) -> Reply:
        """Several times if need be; a try while no server is up, as after a restart, is none."""
        tries, patience = 0, time.monotonic() + PATIENCE
        while True:
            try:
                return await call_through(self.platform, name, args, activation)
            except CallFailed as failed:
                if not failed.again:
                    raise
                tries += any(server.alive for server in self.platform.servers)
                if tries >= ATTEMPTS or time.monotonic() > patience + LONGEST_WAIT * tries:
                    raise
            await asyncio.sleep(_AGAIN * 2 ** max(tries, 1))

    async def close(self) -> None:
        """Stop; what has not ended is taken up by the next gateway."""
        self._waiting.clear()
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
