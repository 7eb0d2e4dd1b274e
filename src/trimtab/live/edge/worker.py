"""The process of one worker: takes what waits, up to its batch size, and answers the batch at once.

Started as ``python -m trimtab.live.edge.worker SOCKET SETTINGS``: the number of an open socket, and JSON with the
batch size and either the name of a model or a profile (base, each, deviation) to emulate.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from trimtab.live.edge.message import ANSWERED, DROPPED, LARGEST, READY, Query, Reply, read_query

Answer = Callable[[Sequence[Query]], list[Any]]
"""Answers a batch: the faces of each query."""


def real(model: str) -> Answer:
    """Detect faces."""
    from trimtab.live.edge.detector import Detector

    detector = Detector(model)
    return lambda batch: [detector.detect(query.picture) for query in batch]


def emulated(base: float, each: float, deviation: float) -> Answer:
    """Answer empty after the delay that the simulator gives a batch: the noise is that of its first query."""

    def answer(batch: Sequence[Query]) -> list[Any]:
        time.sleep((base + each * len(batch)) * max(1.0 + deviation * batch[0].noise, 0.1))
        return [[] for _ in batch]

    return answer


class Worker:
    """Serves the queries of one socket until it is closed."""

    def __init__(self, channel: socket.socket, answer: Answer, size: int) -> None:
        self._channel, self._answer, self._size = channel, answer, size
        self._waiting: deque[Query] = deque()

    def serve(self) -> None:
        """Batch after batch, first-in-first-out."""
        self._channel.send(READY)
        while self._receive():
            batch = self._take()
            if batch:
                self._reply(batch)

    def _receive(self) -> bool:
        """Take in all that has arrived, waiting for it where nothing waits; False when nothing more can come."""
        flags = 0 if not self._waiting else socket.MSG_DONTWAIT
        while True:
            try:
                message = self._channel.recv(LARGEST, flags)
            except BlockingIOError:
                return True
            if not message:
                return False
            self._waiting.append(read_query(message))
            flags = socket.MSG_DONTWAIT

    def _take(self) -> list[Query]:
        """The next batch; queries that could no longer be answered in time are dropped on the way."""
        batch: list[Query] = []
        while self._waiting and len(batch) < self._size:
            query = self._waiting.popleft()
            now = time.monotonic()
            if now > query.latest:
                self._channel.send(Reply(query.identity, DROPPED, now, 0.0, 0.0, 0).pack())
            else:
                batch.append(query)
        return batch

    def _reply(self, batch: list[Query]) -> None:
        begun, cpu = time.monotonic(), time.process_time()
        answers = self._answer(batch)
        seconds, used = time.monotonic() - begun, time.process_time() - cpu
        for query, faces in zip(batch, answers, strict=True):
            best = faces[0] if faces else None
            box = (best.left, best.top, best.right, best.bottom, best.score) if best else (0.0,) * 5
            self._channel.send(Reply(query.identity, ANSWERED, begun, seconds, used, len(faces), *box).pack())
            used = 0.0


def main(arguments: Sequence[str]) -> None:
    """Load what answers, then serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the scheduler, which then closes the socket
    settings = json.loads(arguments[1])
    answer = real(settings["model"]) if "model" in settings else emulated(**settings["profile"])
    # when the scheduler has gone, so has everybody who waits for an answer
    with socket.socket(fileno=int(arguments[0])) as channel, suppress(BrokenPipeError, ConnectionResetError):
        Worker(channel, answer, int(settings["batch"])).serve()


if __name__ == "__main__":
    main(sys.argv[1:])
