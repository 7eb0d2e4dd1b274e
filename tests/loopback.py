"""A small HTTP server on loopback whose answers a test decides: delays, stalls, errors, nonsense."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Answer = Callable[["Seen"], Awaitable[bytes]]


@dataclass(frozen=True)
class Seen:
    """A call as the server saw it."""

    time: float
    path: str
    body: bytes
    head: str = ""
    """Request line and headers."""


@dataclass
class Server:
    """Where it is, and what it saw."""

    port: int = 0
    calls: list[Seen] = field(default_factory=list)
    most_open: int = 0
    """Most connections at a time."""
    open: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def ok(body: bytes = b"{}", headers: str = "", status: str = "200 OK") -> bytes:
    """A whole answer."""
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


async def at_once(seen: Seen) -> bytes:
    """Answer without delay."""
    return ok()


@contextmanager
def serving(answer: Answer = at_once) -> Iterator[Server]:
    """A server in a thread of its own, while the block runs; an empty answer closes the connection."""
    server, ready = Server(), threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.open += 1
        server.most_open = max(server.most_open, server.open)
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = int(head.lower().partition("content-length:")[2].partition("\r\n")[0])
                seen = Seen(loop.time(), head.split()[1], await reader.readexactly(length), head)
                server.calls.append(seen)
                content = await answer(seen)
                writer.write(content)
                if not content:
                    break
        server.open -= 1
        writer.close()

    async def main() -> None:
        listening = await asyncio.start_server(handle, "127.0.0.1", 0)
        server.port = listening.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        listening.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def run() -> None:
        loop.run_until_complete(main())
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
