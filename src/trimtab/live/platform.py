"""The platform of one machine: servers, functions and calls, and who decides about them."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from trimtab.errors import TrimtabError
from trimtab.live.audit import Audit
from trimtab.live.board import Board
from trimtab.live.cgroup import Group
from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed, FunctionSpec, figures_of
from trimtab.live.history import History
from trimtab.live.latency import Latency
from trimtab.live.link import Link
from trimtab.live.metering import Metering
from trimtab.live.placing import Placer
from trimtab.live.pool import Instance, Invocation, Pool, Server, lost
from trimtab.live.sandbox import Isolation
from trimtab.live.scaling import Scaling
from trimtab.live.selecting import Selecting
from trimtab.live.wire import Channel, Garbled, connect
from trimtab.scenario.model import Scenario
from trimtab.sim.build import host_names
from trimtab.sim.records import STARTING

LONGEST_WAIT = 120.0
"""Seconds that a call waits for an instance."""
_START_LIMIT = 30.0
_EXIT_WAIT = 1.0
_DEFAULT_SHARES = 1024
_MIB = 2**20
_TICK = 0.25

log = logging.getLogger("trimtab.live")


@dataclass(frozen=True)
class Settings:
    """What a platform is started with."""

    scenario: Scenario
    place: str
    folder: Path
    """For sockets: short-lived, and with a short name, because a socket's may have 108 characters."""
    group: Group
    isolation: Isolation
    scale: str | None = None
    select: str | None = None


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


class Platform:
    """Everything but HTTP and the ledger."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.scenario = scenario = settings.scenario
        self.began = time.monotonic()
        self.audit, self.history, self.latency = Audit(), History(), Latency()
        self.functions: dict[str, Deployed] = {}
        self.servers = _servers(scenario)
        self.placer = Placer(Board(scenario), self.audit, self.clock)
        platform = scenario.platform
        self.pool = Pool(
            self.servers, self, self.placer.place, self.clock, by_host=platform.dispatch == "host",
            on_demand=platform.instances == "on-demand", keep_alive=platform.keep_alive.seconds,
        )  # fmt: skip
        if platform.queue_limit is not None:
            self.pool.queue_limit = platform.queue_limit
        self.placer.pool = self.pool
        self.metering = Metering(self)
        self.links = [self._link(server) for server in self.servers]
        self._numbers, self._deployments = itertools.count(), itertools.count()
        self._started: dict[int, asyncio.Future[int]] = {}
        self._limited: dict[int, asyncio.Future[str | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._known = {each.name: each for each in scenario.functions}
        self.switch_place(settings.place)
        self.scaling = Scaling(self)
        self.scaling.switch(settings.scale)
        self.selecting = Selecting(self)
        self.selecting.switch(settings.select)

    def _link(self, server: Server) -> Link:
        folder = self.settings.folder / server.name
        folder.mkdir(exist_ok=True)
        period = max(self.scenario.platform.sample_every, 0.05)
        return Link(
            server, folder, self.settings.group, self.settings.isolation, period, self._heard, self._server_lost
        )

    def clock(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    def switch_place(self, name: str) -> None:
        """Another placement policy decides from now on."""
        self.placer.switch(name)
        self.history.band(name)

    def begin(self) -> None:
        """Start all servers."""
        for link in self.links:
            link.begin()
        self._spawn(self._tick())

    @property
    def ready(self) -> bool:
        """Whether every server is up."""
        return all(server.alive for server in self.servers)

    async def close(self) -> None:
        """End every server and instance."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*(link.close() for link in self.links))

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            for part in (self.pool.expire, self.metering.tick, self.selecting.tick, self.scaling.tick):
                try:
                    waiting = part()
                    if waiting is not None:
                        await waiting
                except Exception:  # the others, and the next tick, must go on
                    log.exception("control loop")

    # --- functions

    def deploy(self, name: str, spec: FunctionSpec) -> Deployed:
        """Deploy a function, or another version of one."""
        largest = max(server.memory for server in self.servers)
        if spec.memory > largest:
            raise TrimtabError(
                f"memory_mb = {spec.memory_mb}, must be at most {int(largest / _MIB)}: no server has more"
            )
        self.remove(name)
        figures = figures_of(name, spec, self._known.get(name))
        function = Deployed(name, spec, figures, 0, next(self._deployments))
        self.placer.board.enrol(function)
        for server in self.servers:
            server.changed = True
        self.functions[name] = function
        wanted = figures.instances
        if wanted is None and not self.pool.on_demand:
            wanted = self.scenario.control.minimum
        function.wanted = wanted or 0
        self.pool.scale(function, function.wanted)
        log.info("function deployed", extra={"function": name})
        return function

    def remove(self, name: str) -> bool:
        """Remove a function; whether there was one."""
        function = self.functions.pop(name, None)
        if function is None:
            return False
        self.pool.forget(function)
        self.placer.board.strike(function)
        return True

    # --- calls

    async def call(self, function: Deployed, body: bytes, activation: str | None = None) -> Reply:
        """Invoke a function with JSON; ``CallFailed`` with what the caller is to be told."""
        loop = asyncio.get_running_loop()
        call = Invocation(
            activation or uuid.uuid4().hex, next(self._numbers), function, self.clock(), loop.create_future()
        )
        function.counters.arrivals += 1
        function.inflight += 1
        try:
            reply = await self._attempts(call, body)
        except CallFailed:
            function.counters.failures += 1
            function.counters.violations += 1
            self.history.failed += 1
            raise
        finally:
            function.inflight -= 1
            self.pool.finished(call)
            if call.slot >= 0:
                self.placer.board.leave(call.slot)
        latency = self.clock() - call.arrived
        function.counters.completions += 1
        function.latency.add(latency, reply.run)
        self.latency.add(latency, reply.run)
        self.history.completed += 1
        self.history.cold += reply.cold
        if function.figures.deadline is not None and latency > function.figures.deadline:
            function.counters.violations += 1
        return reply

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
        run = self.clock() - call.began
        reply = Reply(call.activation, answer, instance.server.name, call.cold, call.began - call.arrived, run, status)
        self.metering.traffic(instance.server, len(body), len(answer))
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
        return await connect(self.links[instance.server.index].path_of(instance.number))

    async def _run(self, call: Invocation, instance: Instance, channel: Channel, body: bytes) -> tuple[int, bytes]:
        function = call.function
        deadline = int((time.time() + function.spec.timeout_s) * 1000)
        message = b'{"value":%b,"activation_id":"%b","action_name":"%b","namespace":"_","deadline":%d}' % (
            body or b"{}",
            call.activation.encode(),
            function.name.encode(),
            deadline,
        )
        try:
            status, answer = await channel.ask(b"/run", message, function.spec.result_limit, function.spec.timeout_s)
            check_answer(answer)
        except Garbled as error:
            self.pool.kill(instance, error.message)
            raise
        except OSError:
            reason = await self._reason(instance)
            self.pool.kill(instance, reason)
            raise lost(instance, reason) from None
        instance.channels.append(channel)
        if status != 200:
            raise CallFailed(502, _own_error(answer))
        return status, answer

    async def _reason(self, instance: Instance) -> str:
        """Why an instance that closed the connection went; its server tells a moment later."""
        if instance.ended is None:
            return "it went"
        try:
            return await asyncio.wait_for(asyncio.shield(instance.ended), _EXIT_WAIT)
        except TimeoutError:
            return "it closed the connection"

    # --- instances: what the pool asks for

    def start(self, instance: Instance) -> None:
        """Start its process (``Actuator``)."""
        loop = asyncio.get_running_loop()
        instance.ended = loop.create_future()
        self._started[instance.number] = loop.create_future()
        self._spawn(self._bring_up(instance))

    def stop(self, instance: Instance, reason: str) -> None:
        """End its process (``Actuator``)."""
        self.links[instance.server.index].tell("kill", number=instance.number, reason=reason)
        for channel in instance.channels:
            channel.close()
        instance.channels.clear()

    async def _bring_up(self, instance: Instance) -> None:
        function, spec = instance.function, instance.function.spec
        link = self.links[instance.server.index]
        link.tell(
            "start", number=instance.number, cpu=function.cpu, shares=self.shares(function.memory),
            memory=int(function.memory), disk=spec.disk_mb * _MIB, processes=spec.processes,
            concurrency=spec.concurrency, output=spec.output_limit,
        )  # fmt: skip
        try:
            started = self._started[instance.number]
            instance.pid = await asyncio.wait_for(started, _START_LIMIT)
            channel = await connect(link.path_of(instance.number))
            self.pool.initialising(instance)
            status, answer = await channel.ask(b"/init", _init_message(function), spec.result_limit, spec.timeout_s)
            check_answer(answer)
            if status != 200:
                raise CallFailed(502, f"the function cannot be initialised: {_own_error(answer)}")
        except CallFailed as error:
            self.pool.kill(instance, error.message, error)
        except (OSError, TimeoutError):
            reason = await self._reason(instance)
            self.pool.kill(instance, reason)
        else:
            instance.channels.append(channel)
            self.pool.ready(instance)
        finally:
            self._started.pop(instance.number, None)

    def shares(self, memory: float) -> float:
        """The weight of an instance on a busy CPU: by memory where the scenario says so, as OpenWhisk does."""
        return memory / _MIB if self.scenario.platform.weights == "memory" else _DEFAULT_SHARES

    async def resize(self, function: Deployed, cpu: float | None, memory: float | None) -> None:
        """Change CPU and memory of every instance of a function, without a restart."""
        function.cpu = cpu if cpu is not None else function.cpu
        function.memory = memory if memory is not None else function.memory
        waiting = [self._resize(instance, cpu, memory) for instance in function.instances.values()]
        refused = [error for error in await asyncio.gather(*waiting) if error is not None]
        if refused:
            raise CallFailed(409, f"an instance could not be resized: {refused[0]}")

    async def _resize(self, instance: Instance, cpu: float | None, memory: float | None) -> str | None:
        server, number = instance.server, instance.number
        self._limited[number] = asyncio.get_running_loop().create_future()
        self.links[server.index].tell(
            "limit", number=number, cpu=cpu, memory=None if memory is None else int(memory),
            shares=None if memory is None else self.shares(memory),
        )  # fmt: skip
        try:
            error = await asyncio.wait_for(self._limited[number], _START_LIMIT)
        except TimeoutError:
            error = "its server does not answer"
        finally:
            self._limited.pop(number, None)
        if error is None and memory is not None and number in server.instances:
            self.pool.reserve(instance, memory)
        return error

    # --- servers: what they say

    def _heard(self, server: Server, message: dict[str, Any]) -> None:
        kind, number = message["event"], message.get("number")
        instance = server.instances.get(number) if isinstance(number, int) else None
        if kind == "sample":
            self.metering.sample(server, message)
        elif kind == "ready":
            self.pool.up(server)
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
            self.pool.gone(instance, reason)

    def _server_lost(self, server: Server, reason: str) -> None:
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
        self.pool.down(server, reason)


def check_answer(answer: bytes) -> None:
    """An instance's answer must be a JSON object or list: the process that wrote it is not trusted."""
    try:
        value = from_json(answer, allow_inf_nan=False)
    except ValueError:
        raise Garbled(502, "the function's result is not JSON") from None
    if not isinstance(value, dict | list):
        raise Garbled(502, "the function's result is not a JSON object or list")


def _own_error(answer: bytes) -> str:
    value = json.loads(answer)
    return str(value.get("error", "unknown error"))[:2_000] if isinstance(value, dict) else "unknown error"


def _init_message(function: Deployed) -> bytes:
    spec = function.spec
    value: Mapping[str, Any] = {
        "name": function.name, "main": spec.main, "code": spec.code if spec.code is not None else spec.zip,
        "binary": spec.zip is not None, "env": spec.env,
    }  # fmt: skip
    return json.dumps({"value": value}).encode()


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


def _servers(scenario: Scenario) -> list[Server]:
    groups = [group for group in scenario.hosts for _ in range(group.count)]
    return [
        Server(index, name, group.effective_cores or group.cores, group.memory)
        for index, (name, group) in enumerate(zip(host_names(scenario), groups, strict=True))
    ]
