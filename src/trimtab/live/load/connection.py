"""One HTTP connection that carries one call at a time: as little Python as a call can do with.

The client shares a machine with what it measures, so each microsecond here is one that functions do not get.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Protocol

import httptools

LARGEST = 64 * 2**20
"""Bytes of an answer; a server that sends more is cut off."""


@dataclass(eq=False, slots=True)
class Call:
    """A call under way, and what its answer says."""

    index: int
    data: bytes
    sent: float = float("nan")
    ended: float = float("nan")
    status: int = 0
    """Of the answer; 0 where there is none."""
    error: str = ""
    """What went wrong: ``connect``, ``timeout``, ``reset``, ``too large``, ``not HTTP``."""
    headers: dict[bytes, bytes] = field(default_factory=dict)
    """Those that begin with ``x-trimtab-``, in lower case."""
    connection: Connection | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.ended == self.ended


class Owner(Protocol):
    """Who is told what becomes of a connection and its calls."""

    def ended(self, call: Call) -> None:
        """A call has its answer, or never will."""

    def free(self, connection: Connection) -> None:
        """The connection can take the next call."""

    def lost(self, connection: Connection) -> None:
        """The connection is no more; said once."""


class Connection(asyncio.Protocol):
    """Writes a call and parses its answer."""

    def __init__(self, loop: asyncio.AbstractEventLoop, owner: Owner) -> None:
        self._clock, self._owner = loop.time, owner
        self._transport: Any = None
        self._parser: Any = None
        self._received = 0
        self._framed = False
        self.call: Call | None = None

    def begin(self, call: Call) -> None:
        """Send a call; the connection must be free."""
        self.call, call.connection = call, self
        self._received, self._framed = 0, False
        self._parser = httptools.HttpResponseParser(self)
        call.sent = self._clock()
        self._transport.write(call.data)

    def abort(self, error: str) -> None:
        """Give up the call, and the connection with it: the answer may still come."""
        self._end(error)
        self._transport.abort()

    def close(self) -> None:
        """Let the connection go."""
        self._transport.close()

    def _end(self, error: str = "") -> None:
        call, self.call = self.call, None
        if call is not None:
            call.ended, call.connection, call.error = self._clock(), None, error
            self._owner.ended(call)

    # what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is there."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """A part of an answer."""
        self._received += len(data)
        if self.call is None or self._received > LARGEST:
            self.abort("too large")  # or an answer to nothing: not a server to go on with
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.abort("not HTTP")

    def connection_lost(self, error: Exception | None) -> None:
        """The server has gone, or the connection was given up."""
        # without a length, the end of the connection is the end of the answer
        whole = self.call is not None and self.call.status > 0 and not self._framed
        self._end("" if whole else "reset")
        self._owner.lost(self)

    # what the parser calls

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header of the answer."""
        name = name.lower()
        if name.startswith(b"x-trimtab-") and self.call is not None:
            self.call.headers[name] = value
        elif name in (b"content-length", b"transfer-encoding"):
            self._framed = True

    def on_headers_complete(self) -> None:
        """The status is known."""
        if self.call is not None:
            self.call.status = self._parser.get_status_code()

    def on_message_complete(self) -> None:
        """The whole answer is there."""
        reusable = self._parser.should_keep_alive()
        self._end()
        if reusable:
            self._owner.free(self)
        else:
            self._transport.close()
