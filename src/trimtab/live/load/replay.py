"""Open-loop replay: a call goes out when it is due, whatever became of those before it.

A closed loop sends the next call when the last one is answered, so a server that stalls is asked less and looks
better than it is (coordinated omission). Here latency counts from the time at which a call was due.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from trimtab.live.load.connection import Call
from trimtab.live.load.log import Log
from trimtab.live.load.plan import Plan
from trimtab.live.load.pool import Pool
from trimtab.live.load.target import Target

_LEAD = 0.1
"""Seconds before the first call is due: threads start, kernels wake."""


@dataclass(frozen=True)
class Limits:
    """Bounds of a replay."""

    connections: int = 256
    timeout: float = 60.0
    """Seconds from the time at which a call is due."""


LIMITS = Limits()


def replay(plan: Plan, target: Target, limits: Limits = LIMITS) -> Log:
    """Send every call of a plan in real time, and wait for the last answer."""
    log = Log(plan)
    asyncio.run(_play(log, target, limits))
    return log


@contextmanager
def replaying(plan: Plan, target: Target, limits: Limits = LIMITS) -> Iterator[tuple[Log, Future[None]]]:
    """Send a plan while the block runs: the log as it fills, and when it is done; what is left at the end is not sent.

    Times of the log are from ``Log.began`` on, as ``time.monotonic`` tells it.
    """
    loop, log = asyncio.new_event_loop(), Log(plan)
    thread = threading.Thread(target=loop.run_forever, name="trimtab-load", daemon=True)
    thread.start()
    done = asyncio.run_coroutine_threadsafe(_play(log, target, limits), loop)
    try:
        yield log, done
    finally:
        done.cancel()
        asyncio.run_coroutine_threadsafe(_others(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _play(log: Log, target: Target, limits: Limits) -> None:
    await _Replay(log, target, limits).run()


async def _others() -> None:
    """Wait for all else that runs in this loop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)


class _Replay:
    def __init__(self, log: Log, target: Target, limits: Limits) -> None:
        plan = self._plan = log.plan
        self._log, self._left, self._limits = log, len(plan), limits
        self._loop = asyncio.get_running_loop()
        self._pool = Pool(target, limits.connections, self._ended)
        self._start = log.began = self._loop.time() + _LEAD
        self._over, self._stopped = asyncio.Event(), threading.Event()
        self._timers: dict[int, asyncio.TimerHandle] = {}
        functions, function = plan.workload.functions, plan.workload.function.tolist()
        self._data = [
            target.head(functions[each], len(body)) + body for each, body in zip(function, plan.bodies, strict=True)
        ]

    async def run(self) -> None:
        """Until every call has ended."""
        clock = threading.Thread(target=self._tick, name="trimtab-load-clock", daemon=True)
        clock.start()
        try:
            if self._left:
                await self._over.wait()
        finally:
            self._stopped.set()
            for timer in self._timers.values():
                timer.cancel()
            await self._pool.close()
            clock.join()

    def _tick(self) -> None:
        """Wake for every call. A thread, because asyncio's own timers are up to a millisecond late."""
        for index, arrival in enumerate(self._plan.workload.arrival.tolist()):
            delay = self._start + arrival - self._loop.time()
            if delay > 0 and self._stopped.wait(delay):
                return
            if self._stopped.is_set():
                return
            self._loop.call_soon_threadsafe(self._send, index, self._start + arrival)

    def _send(self, index: int, due: float) -> None:
        call = Call(index, self._data[index])
        self._timers[index] = self._loop.call_at(due + self._limits.timeout, self._pool.expire, call)
        self._pool.submit(call)

    def _ended(self, call: Call) -> None:
        self._timers.pop(call.index).cancel()
        self._log.add(call, self._start)
        self._left -= 1
        if self._left == 0:
            self._over.set()
