"""Real servers and instances: starts and ends what the pool asks for, and tells it what became of them."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

from trimtab.live.action import check_answer, init_message, own_error
from trimtab.live.failure import CallFailed
from trimtab.live.link import Activity, Link
from trimtab.live.servers import Instance, Server
from trimtab.live.wire import Channel, Exhausted, connect
from trimtab.sim.records import STARTING

if TYPE_CHECKING:
    from trimtab.live.platform import Platform

START_LIMIT = 30.0
"""Seconds within which a server does what it is told."""
_EXIT_WAIT = 1.0
_DEFAULT_SHARES = 1024
_MIB = 2**20
_CONNECT_AGAIN = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds between tries to reach a new instance while file descriptors are short."""

log = logging.getLogger("trimtab.live")


class Fleet:
    """The processes behind a pool: its ``Actuator``."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.links = [self._link(server) for server in platform.servers]
        self._started: dict[int, asyncio.Future[int]] = {}
        self._limited: dict[int, asyncio.Future[str | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def _link(self, server: Server) -> Link:
        settings = self.platform.settings
        folder = settings.folder / server.name
        folder.mkdir(exist_ok=True)
        period = max(settings.scenario.platform.sample_every, 0.05)
        return Link(server, folder, settings.group, settings.isolation, period, self._heard, self._lost)

    def begin(self) -> None:
        """Start all servers."""
        for link in self.links:
            link.begin()

    async def close(self) -> None:
        """End every server and instance."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*(link.close() for link in self.links))

    def path_of(self, instance: Instance) -> str:
        """The socket of an instance."""
        return self.links[instance.server.index].path_of(instance.number)

    def activity(self, instance: Instance) -> Activity:
        """What every question to an instance is asked within: it may have to be thawed, and its ends are counted."""
        return self.links[instance.server.index].activity(instance.number)

    def start(self, instance: Instance) -> None:
        """Start its process (``Actuator``)."""
        loop = asyncio.get_running_loop()
        instance.ended = loop.create_future()
        self._started[instance.number] = loop.create_future()
        task = loop.create_task(self._bring_up(instance))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self, instance: Instance, reason: str) -> None:
        """End its process (``Actuator``)."""
        self.links[instance.server.index].tell("kill", number=instance.number, reason=reason)
        for channel in instance.channels:
            channel.close()
        instance.channels.clear()

    async def _bring_up(self, instance: Instance) -> None:
        pool, function, spec = self.platform.pool, instance.function, instance.function.spec
        self._tell_start(instance)
        try:
            instance.pid = await asyncio.wait_for(self._started[instance.number], START_LIMIT)
            channel = await self._reach(instance)
            pool.initialising(instance)
            with self.activity(instance):
                status, answer = await channel.ask(b"/init", init_message(function), spec.result_limit, spec.timeout_s)
            check_answer(answer)
            if status != 200:
                raise CallFailed(502, f"the function cannot be initialised: {own_error(answer)}")
        except CallFailed as error:
            pool.kill(instance, error.message, error)
        except (OSError, TimeoutError):
            reason = await self.reason(instance)
            pool.kill(instance, reason)
        else:
            instance.channels.append(channel)
            pool.ready(instance)
        finally:
            self._started.pop(instance.number, None)

    def _tell_start(self, instance: Instance) -> None:
        function, spec, server = instance.function, instance.function.spec, instance.server
        # a small server cannot give more than it has: the kernel would refuse the start
        cpu = None if function.cpu is None else min(function.cpu, server.cores)
        self.links[server.index].tell(
            "start", number=instance.number, cpu=cpu, shares=self._shares(instance.memory),
            memory=int(instance.memory), disk=spec.disk_mb * _MIB, processes=spec.processes,
            concurrency=spec.concurrency, output=spec.output_limit,
        )  # fmt: skip

    async def _reach(self, instance: Instance) -> Channel:
        """Connect to a new instance; while file descriptors are short, again: it is as good as it was."""
        for wait in _CONNECT_AGAIN:
            try:
                return await connect(self.path_of(instance))
            except Exhausted:
                await asyncio.sleep(wait)
        return await connect(self.path_of(instance))

    def _shares(self, memory: float) -> float:
        """The weight of an instance on a busy CPU: by memory where the scenario says so, as OpenWhisk does."""
        return memory / _MIB if self.platform.scenario.platform.weights == "memory" else _DEFAULT_SHARES

    async def reason(self, instance: Instance) -> str:
        """Why an instance that closed the connection went; its server tells a moment later."""
        if instance.ended is None:
            return "it went"
        try:
            return await asyncio.wait_for(asyncio.shield(instance.ended), _EXIT_WAIT)
        except TimeoutError:
            return "it closed the connection"

    async def limit(self, instance: Instance, cpu: float | None, memory: float | None) -> str | None:
        """Change what a running instance may use; why the kernel refused it, or None."""
        server, number = instance.server, instance.number
        self._limited[number] = asyncio.get_running_loop().create_future()
        self.links[server.index].tell(
            "limit", number=number, cpu=None if cpu is None else min(cpu, server.cores),
            memory=None if memory is None else int(memory), shares=None if memory is None else self._shares(memory),
        )  # fmt: skip
        try:
            error = await asyncio.wait_for(self._limited[number], START_LIMIT)
        except TimeoutError:
            error = "its server does not answer"
        finally:
            self._limited.pop(number, None)
        return error if number in server.instances else None  # one that has gone has no size

    # --- what servers say

    def _heard(self, server: Server, message: dict[str, Any]) -> None:
        kind, number = message["event"], message.get("number")
        instance = server.instances.get(number) if isinstance(number, int) else None
        if kind == "sample":
            self.platform.metering.sample(server, message)
        elif kind == "ready":
            self.platform.pool.up(server)
        elif kind == "started" and number in self._started and not self._started[number].done():
            self._started[number].set_result(message["pid"])
        elif kind == "log" and instance is not None:
            _note_output(instance, message)
        elif kind == "exited":
            self._exited(instance, int(message["number"]), message["reason"])
        elif kind == "limited" and number in self._limited and not self._limited[number].done():
            self._limited[number].set_result(message["error"])

    def _exited(self, instance: Instance | None, number: int, reason: str) -> None:
        started = self._started.get(number)
        if started is not None and not started.done():
            started.set_exception(ConnectionResetError(reason))
        if instance is None:
            return
        if instance.ended is not None and not instance.ended.done():
            instance.ended.set_result(reason)
        if instance.state != STARTING:  # else whoever brings it up says why it could not start
            log.info("instance ended", extra={"instance": number, "reason": reason})
            self.platform.pool.gone(instance, reason)

    def _lost(self, server: Server, reason: str) -> None:
        log.warning("server down", extra={"server": server.name})
        for instance in server.instances.values():
            if instance.ended is not None and not instance.ended.done():
                instance.ended.set_result(reason)
            started = self._started.get(instance.number)
            if started is not None and not started.done():
                started.set_exception(ConnectionResetError(reason))
            limited = self._limited.get(instance.number)
            if limited is not None and not limited.done():
                limited.set_result(reason)
        self.platform.pool.down(server, reason)


def _note_output(instance: Instance, message: dict[str, Any]) -> None:
    now = time.time()
    instance.function.logs.extend(
        {
            "time": now,
            "instance": f"{instance.server.name}/{instance.number}",
            "stream": message["stream"],
            "line": line,
        }
        for line in message["lines"]
    )
