"""The gateway's end of a server: starts its process, speaks with it, notices when it goes and starts it again."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from trimtab.live.cgroup import Group
from trimtab.live.isolation import Isolation
from trimtab.live.servers import Server

_LONGEST_MESSAGE = 16 * 2**20
_AGAIN = 0.2
"""Seconds before a server's process that went is started again; twice as long each time, at most …"""
_LONGEST_WAIT = 5.0
_GRACE = 3.0
_FREEZE_AFTER = 1.0
"""Seconds without a call after which all processes of an instance are stopped; a busy one is never thawed."""

log = logging.getLogger("trimtab.live")


@dataclass(slots=True)
class Activity:
    """What an instance does, as far as its calls tell: the block of a ``with`` is one of them, or its start."""

    number: int
    tell: Callable[..., None]
    running: int = 0
    ended: int = 0
    idle_since: float = 0.0
    frozen: bool = False

    def __enter__(self) -> Self:
        self.running += 1
        if self.frozen:
            self.frozen = False
            self.tell("thaw", number=self.number)
        return self

    def __exit__(self, *_: object) -> None:
        self.running -= 1
        self.ended += 1
        self.idle_since = time.monotonic()

    def rest(self, now: float) -> None:
        """Stop what it still does long after its last call: nobody waits for it, and others need the CPU."""
        if not self.frozen and self.running == 0 and now - self.idle_since > _FREEZE_AFTER and self.ended:
            self.frozen = True
            self.tell("freeze", number=self.number)


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
    _activities: dict[int, Activity] = field(default_factory=dict)

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
            self._activities.clear()
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
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            else:
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
                self._hear(json.loads(line))
        except (ConnectionResetError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writer.close()
            await self._reap()

    def _hear(self, message: dict[str, Any]) -> None:
        kind, number = message["event"], message.get("number", -1)
        if kind == "count":  # it may have printed too much, unless calls have ended that it knows nothing of
            self.tell("count", number=number, calls=self.activity(number).ended)
            return
        if kind == "sample":
            self._rest()
        self.heard(self.server, message)

    def _rest(self) -> None:
        now = time.monotonic()
        for each in list(self._activities.values()):
            if each.number in self.server.instances:
                each.rest(now)
            elif each.running == 0:
                del self._activities[each.number]

    def activity(self, number: int) -> Activity:
        """Of an instance: every call of it, and its start, is to be a block of a ``with`` on this."""
        found = self._activities.get(number)
        if found is None:
            found = self._activities[number] = Activity(number, self.tell)
        return found

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
