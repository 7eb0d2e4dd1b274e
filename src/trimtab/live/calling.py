"""A call, from its acceptance to its answer: it waits for an instance, runs there, and is counted."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trimtab.live.action import check_answer, own_error, run_message
from trimtab.live.failure import CallFailed, InstanceLost
from trimtab.live.function import Deployed
from trimtab.live.servers import Instance, Invocation
from trimtab.live.wire import Channel, Garbled, connect

if TYPE_CHECKING:
    from trimtab.live.platform import Platform

LONGEST_WAIT = 120.0
"""Seconds that a call waits for an instance."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call came to."""

    activation: str
    body: bytes
    server: str
    cold: bool
    wait: float
    run: float
    status: int = 200


class Calling:
    """Runs calls on a platform."""

    def __init__(self, platform: Platform) -> None:
        self.platform, self.pool = platform, platform.pool
        self._numbers = itertools.count()

    async def call(self, function: Deployed, body: bytes, activation: str | None = None) -> Reply:
        """Invoke a function with JSON; ``CallFailed`` with what the caller is to be told."""
        platform = self.platform
        granted = asyncio.get_running_loop().create_future()
        arrived = platform.clock()
        call = Invocation(activation or uuid.uuid4().hex, next(self._numbers), function, arrived, granted)
        function.counters.arrivals += 1
        function.inflight += 1
        try:
            reply = await self._attempts(call, body)
        except CallFailed:
            call.function.counters.failures += 1
            call.function.counters.violations += 1
            platform.history.failed += 1
            raise
        finally:
            call.function.inflight -= 1
            self.pool.finished(call)
            if call.slot >= 0:
                platform.placer.board.leave(call.slot)
        self._count(call.function, reply, platform.clock() - call.arrived)
        return reply

    def _count(self, function: Deployed, reply: Reply, latency: float) -> None:
        platform = self.platform
        function.counters.completions += 1
        function.latency.add(latency, reply.run)
        platform.latency.add(latency, reply.run)
        platform.history.completed += 1
        platform.history.cold += reply.cold
        if function.figures.deadline is not None and latency > function.figures.deadline:
            function.counters.violations += 1

    async def _attempts(self, call: Invocation, body: bytes) -> Reply:
        """Run a call; one that never reached an instance is tried once more."""
        try:
            return await self._attempt(call, body)
        except ConnectionRefusedError:
            self.pool.finished(call)
            call.server = None
            call.granted = asyncio.get_running_loop().create_future()
        try:
            return await self._attempt(call, body)
        except ConnectionRefusedError:
            raise CallFailed(503, "instances go as fast as they come", again=True) from None

    async def _attempt(self, call: Invocation, body: bytes) -> Reply:
        self.pool.submit(call)
        instance = call.granted.result() if call.granted.done() else await self._granted(call)
        try:
            channel = await self._channel(instance)
        except OSError:
            self.pool.kill(instance, "it does not answer")
            raise ConnectionRefusedError from None
        status, answer = await self._run(call, instance, channel, body)
        run = self.platform.clock() - call.began
        reply = Reply(call.activation, answer, instance.server.name, call.cold, call.began - call.arrived, run, status)
        self.platform.metering.traffic(instance.server, len(body), len(answer))
        return reply

    async def _granted(self, call: Invocation) -> Instance:
        try:
            return await asyncio.wait_for(call.granted, LONGEST_WAIT)
        except TimeoutError:
            self.pool.withdraw(call)
            raise CallFailed(503, f"no instance was free within {LONGEST_WAIT:g} s", again=True) from None

    async def _channel(self, instance: Instance) -> Channel:
        while instance.channels:
            channel: Channel = instance.channels.pop()
            if not channel.closed:
                return channel
        return await connect(self.platform.fleet.path_of(instance))

    async def _run(self, call: Invocation, instance: Instance, channel: Channel, body: bytes) -> tuple[int, bytes]:
        spec = call.function.spec
        message = run_message(call.function, call.activation, body)
        try:
            with self.platform.fleet.activity(instance):
                status, answer = await channel.ask(b"/run", message, spec.result_limit, spec.timeout_s)
            check_answer(answer)
        except Garbled as error:
            self.pool.kill(instance, error.message)
            raise
        except OSError:
            reason = await self.platform.fleet.reason(instance)
            self.pool.kill(instance, reason)
            raise InstanceLost(f"{reason} ({instance.server.name}, instance {instance.number})") from None
        instance.channels.append(channel)
        if status != 200:
            raise CallFailed(502, own_error(answer))
        return status, answer
