"""HTTP to an instance over its Unix socket: one request at a time on a connection that stays open.

An instance is not trusted: its answer is bounded in size and time, and what is not HTTP is an error.
"""

from __future__ import annotations

import asyncio
import errno
from typing import cast

from trimtab.live.failure import CallFailed

_LONGEST_HEAD = 8_192


class Garbled(CallFailed):
    """An instance answered something else than HTTP, too much of it, or not in time: it cannot be used again."""


class Exhausted(CallFailed):
    """The gateway has no file descriptor left for a connection: nothing is wrong with the instance."""

    def __init__(self) -> None:
        super().__init__(503, "the gateway has no file descriptor free to reach an instance", again=True)


class Channel(asyncio.Protocol):
    """One connection to an instance."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._received = bytearray()
        self._limit, self._status, self._length = 0, 0, -1
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self.closed = True
        self._fail(ConnectionResetError("the instance closed the connection"))

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        if self._answer is None or self._answer.done():
            self.close()  # it speaks without having been asked
            return
        self._received += data
        if self._length < 0 and not self._read_head():
            return
        if len(self._received) >= self._length:
            body = bytes(self._received[: self._length])
            self._received.clear()
            self._answer.set_result((self._status, body))

    def _read_head(self) -> bool:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            if len(self._received) > _LONGEST_HEAD:
                self._fail(Garbled(502, "the instance did not answer with HTTP"))
            return False
        lines = bytes(self._received[:end]).split(b"\r\n")
        del self._received[: end + 4]
        words, length = lines[0].split(), -1
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit() and len(value) < 16:
                length = int(value)
        if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit() or length < 0:
            self._fail(Garbled(502, "the instance did not answer with HTTP"))
            return False
        if length > self._limit:
            self._fail(Garbled(502, f"the result has {length} bytes, must be at most {self._limit}"))
            return False
        self._status, self._length = int(words[1]), length
        return True

    def _fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
        if isinstance(error, Garbled):
            self.close()

    def close(self) -> None:
        """Drop the connection."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    async def ask(self, path: bytes, body: bytes, limit: int, seconds: float) -> tuple[int, bytes]:
        """Send a request; its status and body. ``ConnectionResetError`` when the instance goes."""
        if self.closed or self._transport is None:
            raise ConnectionResetError("the connection is closed")
        self._answer = self._loop.create_future()
        self._received.clear()
        self._limit, self._length = limit, -1
        late = Garbled(504, f"the function exceeded its time limit of {seconds:g} s")
        timer = self._loop.call_later(seconds, self._fail, late)
        self._transport.write(
            b"POST %b HTTP/1.1\r\nHost: instance\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            % (path, len(body))
            + body
        )
        try:
            return await self._answer
        finally:
            timer.cancel()
            self._answer = None


async def connect(path: str) -> Channel:
    """Open a connection to the socket of an instance; ``Exhausted`` if the gateway has no descriptor for it."""
    try:
        _, channel = await asyncio.get_running_loop().create_unix_connection(Channel, path)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise Exhausted from None
        raise
    return channel
