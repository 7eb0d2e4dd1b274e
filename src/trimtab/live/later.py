"""Asynchronous calls: accepted into the ledger, then run; after a restart those that had not ended run again.

At least once: a call whose instance, server or gateway went may have had an effect before it is tried again.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from trimtab.live.calling import LONGEST_WAIT, Reply
from trimtab.live.chain import call_through
from trimtab.live.failure import CallFailed
from trimtab.live.ledger import Ledger
from trimtab.live.platform import Platform
from trimtab.live.turns import Turns

ATTEMPTS = 5
"""Times that a call is tried when its instance goes; a function's own error is final."""
PATIENCE = 60.0
"""Seconds that a call waits for any server to come up."""
_MOST = 100_000
_AGAIN = 0.1
_LONGEST_PAUSE = 5.0
"""Seconds between tries to write to the ledger, at most."""
_PRUNE_EVERY = 10_000

Value = TypeVar("Value")

log = logging.getLogger("trimtab.live")


class Later:
    """Runs what the ledger holds."""

    def __init__(self, platform: Platform, ledger: Ledger) -> None:
        self.platform, self.ledger = platform, ledger
        self._turns = Turns()
        self._running: set[asyncio.Task[None]] = set()
        self._ended = 0

    async def resume(self) -> None:
        """Take up what an earlier gateway left."""
        left = await self.ledger.unfinished()
        if left:
            log.info("calls taken up again", extra={"calls": len(left)})
        for activation, function in left:
            self._turns.join(activation, function)
        self._go_on()

    async def accept(self, function: str, args: bytes) -> str:
        """Accept a call; it is on the disk when this returns."""
        if self._turns.waiting >= _MOST:
            raise CallFailed(429, f"{_MOST} asynchronous calls wait already")
        activation = uuid.uuid4().hex
        try:
            await self.ledger.accept(activation, function, args)
        except sqlite3.Error as error:
            raise CallFailed(503, f"the call could not be written to the ledger: {error}") from None
        self._turns.join(activation, function)
        self._go_on()
        return activation

    def _go_on(self) -> None:
        while (found := self._turns.take()) is not None:
            activation, function = found
            task = asyncio.get_running_loop().create_task(self._run(activation))
            self._running.add(task)
            task.add_done_callback(partial(self._done, function))

    def _done(self, function: str, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._turns.leave(function)
        if not task.cancelled() and task.exception() is not None:
            log.error("asynchronous call", exc_info=task.exception())
        self._go_on()

    async def _run(self, activation: str) -> None:
        found = await _written(lambda: self.ledger.begin(activation))
        if found is None:
            log.error("the ledger holds no such call", extra={"activation": activation})
            return
        name, args = found
        result: bytes | None = None
        error: str | None
        try:
            result, error = (await self._tried(name, args, activation)).body, None
        except CallFailed as failed:
            error = failed.message
        except Exception as broken:  # a call that was accepted must end, whatever happened here
            log.exception("asynchronous call")
            error = f"the gateway failed: {type(broken).__name__}"
        # half of a surrogate pair, which a function may well print, cannot be stored
        told = None if error is None else error.encode(errors="replace").decode()
        await _written(lambda: self.ledger.end(activation, result, told))
        self._ended += 1
        if self._ended % _PRUNE_EVERY == 0:
            await _written(self.ledger.prune)

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
        self._turns.clear()
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


async def _written(work: Callable[[], Awaitable[Value]]) -> Value:
    """Write to the ledger, again and again while it is locked or its disk is full: an accepted call must end."""
    pause = _AGAIN
    while True:
        try:
            return await work()
        except sqlite3.Error as error:
            log.warning("the ledger cannot be written, again soon", extra={"reason": str(error)})
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
