"""Starts the workers that a scenario's sites have room for, one process each, and starts again those that die."""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from trimtab.errors import TrimtabError
from trimtab.live.edge.detector import MODELS
from trimtab.live.edge.message import LARGEST, READY, Query, Reply, read_reply
from trimtab.sim.deployment import Deployment

START_TIMEOUT = 60.0
MOST_STARTS = 5
"""Of one worker; one that keeps dying stays down."""
_LEAVE = 5.0
_MOST_SAID = 1 << 16
_IMPORTS = os.pathsep.join(each for each in sys.path if each)
"""Workers import what this process does, wherever it was started."""


def settings_of(deployed: Deployment, emulate: bool) -> dict[str, Any]:
    """What a worker's process is told: its batch size, and its model or its profile."""
    batch = deployed.function.batch
    if batch is None:
        raise TrimtabError(f"worker {deployed.name!r} has no batch profile, must be a variant")
    if emulate:
        profile = {"base": batch.base, "each": batch.each, "deviation": batch.deviation}
        return {"batch": batch.size, "profile": profile}
    variant = deployed.name.partition("/")[2].partition("#")[0]
    for model in MODELS:
        if variant == model or variant.startswith(f"{model}-"):
            return {"batch": batch.size, "model": model}
    raise TrimtabError(
        f"variant = {variant!r} has no model on this machine, must begin with one of: {', '.join(MODELS)}; "
        "or let workers be emulated"
    )


class WorkerProcess:
    """One worker: its process, the socket to it, and what the socket has no room for yet."""

    def __init__(self, index: int, settings: dict[str, Any]) -> None:
        self.index, self._settings = index, settings
        self.starts, self.ready = 0, False
        self._backlog: deque[bytes] = deque()
        self.said = tempfile.TemporaryFile()  # noqa: SIM115 (the master closes it)
        """What the process writes to standard error."""
        self.start()

    def start(self) -> None:
        """Start the process; it says when it is ready."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trimtab.live.edge.worker", str(theirs.fileno()), json.dumps(self._settings)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.said,
                env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": _IMPORTS},
            )
        ours.setblocking(False)
        self.channel = ours
        self.starts += 1

    def last_words(self) -> str:
        """The last line that the process wrote to standard error, for a person."""
        self.said.seek(0)
        lines = self.said.read(_MOST_SAID).decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "without a word")

    def send(self, query: Query) -> bool:
        """Hand a query over; False where some of it has to wait for room."""
        self._backlog.append(query.pack())
        return self.flush()

    def flush(self) -> bool:
        """Send what waits; whether all of it has gone."""
        while self._backlog:
            try:
                self.channel.send(self._backlog[0])
            except BlockingIOError:
                return False
            except OSError:
                return True  # it died: whoever reads from it will notice
            self._backlog.popleft()
        return True

    def received(self) -> Iterator[bytes]:
        """Messages that are there; an empty one when the process has gone."""
        while True:
            try:
                message = self.channel.recv(LARGEST)
            except BlockingIOError:
                return
            except OSError:
                message = b""
            yield message
            if not message:
                return

    def close(self) -> None:
        """End the process: without its socket it leaves by itself, and is killed where it does not."""
        self.ready = False
        self._backlog.clear()
        self.channel.close()
        try:
            self.process.wait(_LEAVE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Master:
    """All workers; a context, so that none is left behind."""

    def __init__(self, deployed: tuple[Deployment, ...], emulate: bool) -> None:
        settings = [settings_of(each, emulate) for each in deployed]
        self._selector = selectors.SelectSelector()  # epoll rounds waiting times up to milliseconds
        self.workers: list[WorkerProcess] = []
        try:
            for index, each in enumerate(settings):
                self.workers.append(WorkerProcess(index, each))
                self._listen(self.workers[-1])
            self._wait_for_all()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Master:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _listen(self, worker: WorkerProcess) -> None:
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)

    def _wait_for_all(self) -> None:
        until = time.monotonic() + START_TIMEOUT
        while not all(worker.ready for worker in self.workers):
            left = until - time.monotonic()
            gone = [worker for worker in self.workers if worker.process.poll() is not None]
            if left <= 0.0 or gone:
                why = gone[0].last_words() if gone else f"not ready after {START_TIMEOUT:g} s"
                raise TrimtabError(f"workers did not start: {why}")
            list(self.poll(min(left, 0.2)))

    def alive(self, worker: int) -> bool:
        """Whether a worker is up or starting."""
        return self.workers[worker].process.poll() is None

    def send(self, worker: int, query: Query) -> None:
        """Give a query to a worker."""
        process = self.workers[worker]
        if not process.send(query):
            self._selector.modify(process.channel, selectors.EVENT_READ | selectors.EVENT_WRITE, process)

    def poll(self, seconds: float) -> Iterator[tuple[int, Reply | None]]:
        """Wait at most so long for replies: (worker, reply), and (worker, None) for one that died."""
        for key, mask in self._selector.select(max(seconds, 0.0)):
            worker: WorkerProcess = key.data
            if mask & selectors.EVENT_WRITE and worker.flush():
                self._selector.modify(worker.channel, selectors.EVENT_READ, worker)
            for message in worker.received():
                if message == READY:
                    worker.ready = True
                elif message:
                    yield worker.index, read_reply(message)
                else:
                    self._replace(worker)
                    yield worker.index, None

    def _replace(self, worker: WorkerProcess) -> None:
        """A worker died: start another in its place, unless that was tried often enough."""
        self._selector.unregister(worker.channel)
        worker.close()
        if worker.starts < MOST_STARTS:
            worker.start()
            self._listen(worker)

    def close(self) -> None:
        """End all workers; first all are told, then each is waited for."""
        for worker in self.workers:
            with suppress(OSError):
                worker.channel.shutdown(socket.SHUT_RDWR)
        for worker in self.workers:
            worker.close()
            worker.said.close()
        self._selector.close()
