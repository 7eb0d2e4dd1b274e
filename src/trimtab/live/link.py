"""The gateway's end of a server: starts its process, speaks with it, notices when it goes and starts it again."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from trimtab.live.cgroup import Group
from trimtab.live.pool import Server
from trimtab.live.sandbox import Isolation

_LONGEST_MESSAGE = 16 * 2**20
_AGAIN = 0.2
"""Seconds before a server's process that went is started again; twice as long each time, at most …"""
_LONGEST_WAIT = 5.0
_GRACE = 3.0

log = logging.getLogger("trimtab.live")


@dataclass
class Link:
    """One server's process."""

    server: Server
    folder: Path
    group: Group
    isolation: Isolation
    period: float
    heard: Callable[[Server, dict[str, Any]], None]
    """Called with every message."""
    lost: Callable[[Server, str], None]
    """Called when the process has gone."""
    process: subprocess.Popen[bytes] | None = None
    _writer: asyncio.StreamWriter | None = None
    _task: asyncio.Task[None] | None = None
    _closing: bool = False
    restarts: int = field(default=0)

    def begin(self) -> None:
        """Keep a process running from now on."""
        self._task = asyncio.get_running_loop().create_task(self._keep())

    async def _keep(self) -> None:
        wait = _AGAIN
        while not self._closing:
            began = asyncio.get_running_loop().time()
            try:
                await self._run()
            except (OSError, ValueError) as error:
                log.warning("server failed", extra={"server": self.server.name, "reason": str(error)})
            self._writer = None
            if self._closing:
                return
            self.lost(self.server, f"server {self.server.name!r} went down")
            wait = _AGAIN if asyncio.get_running_loop().time() - began > _LONGEST_WAIT else min(2 * wait, _LONGEST_WAIT)
            await asyncio.sleep(wait)
            self.restarts += 1

    async def _run(self) -> None:
        ours, theirs = socket.socketpair()
        config = {
            "name": self.server.name, "index": self.server.index, "cores": self.server.cores,
            "memory": int(self.server.memory), "folder": str(self.folder), "period": self.period,
            "group": {"version": self.group.version, "folders": {k: str(v) for k, v in self.group.folders.items()}},
            "isolation": asdict(self.isolation),
        }  # fmt: skip
        for old in (*self.folder.glob("*.sock"), *self.folder.glob("spare*")):
            old.unlink(missing_ok=True)
        with theirs:
            # from this thread, which lives as long as the gateway: the process dies with the thread that started it
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trimtab.live.invoker", str(theirs.fileno()), json.dumps(config)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        reader, self._writer = await asyncio.open_connection(sock=ours, limit=_LONGEST_MESSAGE)
        try:
            while line := await reader.readline():
                self.heard(self.server, json.loads(line))
        except (ConnectionResetError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writer.close()
            await self._reap()

    async def _reap(self) -> None:
        process = self.process
        if process is None:
            return
        loop = asyncio.get_running_loop()
        end = loop.time() + _GRACE
        while process.poll() is None:
            if loop.time() > end:
                process.kill()
            await asyncio.sleep(0.01)

    def tell(self, do: str, **message: Any) -> None:
        """Send a command; one to a server that has just gone is lost with it."""
        if self._writer is not None:
            self._writer.write(json.dumps({"do": do, **message}).encode() + b"\n")

    def path_of(self, number: int) -> str:
        """The socket of an instance."""
        return str(self.folder / f"{number}.sock")

    async def close(self) -> None:
        """End the process and its instances, and wait until they are gone."""
        self._closing = True
        if self._writer is not None:
            self._writer.close()
        if self._task is not None:
            with suppress(asyncio.CancelledError, asyncio.TimeoutError):
                await asyncio.wait_for(self._task, 2 * _GRACE)
