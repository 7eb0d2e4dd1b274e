"""uvicorn's HTTP with bounds that it lacks: on connections, and on the bytes and seconds of a request's head."""

from __future__ import annotations

import asyncio
import resource
from functools import cache
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST = 65_536
"""Bytes of a head; a packet that completes one may be larger."""
SLOWEST = 20.0
"""Seconds from the connection, or from the first byte of a later request, to the end of its head."""
_RESERVED = 64
"""File descriptors for the ledger, the servers and what the gateway itself has open."""
_FULL = b'{"error": "%d connections are open already, must be fewer: try again"}'


@cache
def most_connections() -> int:
    """At most half of the descriptors: each call needs as many again, to its instance, or cold starts would fail."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max((allowed - _RESERVED) // 2, 1)


class BoundedHead(HttpToolsProtocol):
    """One connection. Without these bounds a single header of 100 MB held up everybody for seconds."""

    _missing = True
    _size = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody has called."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            self._turn_away()
        else:
            self._expect()

    def _turn_away(self) -> None:
        body = _FULL % most_connections()
        head = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n"
        self.transport.write(head + b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body) + body)
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have gone."""
        self._complete()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        if not self._missing:
            self._expect()

    def on_headers_complete(self) -> None:
        """The last byte of its head."""
        self._complete()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """More of it."""
        self._size += len(data)
        super().data_received(data)
        if self._missing and self._size > LARGEST and not self.transport.is_closing():
            self.send_400_response(f"The head of a request must have at most {LARGEST} bytes.")

    def _expect(self) -> None:
        self._missing, self._size = True, 0
        self._timer = self.loop.call_later(SLOWEST, self._give_up)

    def _complete(self) -> None:
        self._missing = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
