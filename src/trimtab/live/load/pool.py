"""A bounded number of connections; calls beyond it wait, and their wait counts."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from trimtab.live.load.connection import Call, Connection
from trimtab.live.load.target import Target


class Pool:
    """Sends each call on a free connection, opens another where there is none, and waits beyond ``most``."""

    def __init__(self, target: Target, most: int, ended: Callable[[Call], None]) -> None:
        self._target, self._most, self._tell = target, most, ended
        self._loop = asyncio.get_running_loop()
        self._free: list[Connection] = []
        self._waiting: deque[Call] = deque()
        self._context = target.context
        self._connecting: set[asyncio.Task[None]] = set()
        self.open = 0
        """Connections, those included that are being made."""

    def submit(self, call: Call) -> None:
        """Send a call as soon as a connection is free."""
        if self._free:
            self._free.pop().begin(call)  # the one used last: the others may close
        elif self.open < self._most:
            self.open += 1
            task = self._loop.create_task(self._connect(call))
            self._connecting.add(task)
            task.add_done_callback(self._connecting.discard)
        else:
            self._waiting.append(call)

    def expire(self, call: Call) -> None:
        """The time of a call is up, wherever it is."""
        if call.over:
            return
        if call.connection is not None:
            call.connection.abort("timeout")
        else:
            self._fail(call, "timeout")

    async def close(self) -> None:
        """Let all connections go."""
        for task in self._connecting:
            task.cancel()
        await asyncio.gather(*self._connecting, return_exceptions=True)
        for connection in self._free:
            connection.close()
        self._free.clear()

    async def _connect(self, call: Call) -> None:
        try:
            _, connection = await self._loop.create_connection(
                lambda: Connection(self._loop, self), self._target.host, self._target.port, ssl=self._context
            )
        except OSError:
            self.open -= 1
            self._fail(call, "connect")
            self._next()
            return
        if call.over:  # its time ran out meanwhile
            self.free(connection)
        else:
            connection.begin(call)

    def _fail(self, call: Call, error: str) -> None:
        if not call.over:
            call.ended, call.error = self._loop.time(), error
            self._tell(call)

    def _next(self) -> None:
        """Hand a call that waits to a connection, if one is free or can be made."""
        while self._waiting and self._waiting[0].over:
            self._waiting.popleft()
        if self._waiting and (self._free or self.open < self._most):
            self.submit(self._waiting.popleft())

    # what a connection tells

    def ended(self, call: Call) -> None:
        """A call has its answer, or never will."""
        self._tell(call)

    def free(self, connection: Connection) -> None:
        """A connection can take the next call."""
        self._free.append(connection)
        self._next()

    def lost(self, connection: Connection) -> None:
        """A connection is no more."""
        self.open -= 1
        if connection in self._free:
            self._free.remove(connection)
        self._next()
