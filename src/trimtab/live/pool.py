"""Servers, instances and the calls on them, by the rules of the engine: warm, else new, else evict, else queue.

Nothing here does I/O: what is to be started or ended is asked of an ``Actuator``, and what came of it is reported
back. The engine's ``sim/instances.py`` and ``sim/requests.py`` have the same rules for simulated time.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from trimtab.live.failure import CallFailed, InstanceLost
from trimtab.live.function import Deployed
from trimtab.sim.records import CREATING, DRAINING, IN_TRANSIT, INITIALISING, QUEUED, READY, RUNNING, STARTING

_STATES = {STARTING: "starting", READY: "busy", DRAINING: "busy"}


@dataclass(eq=False, slots=True)
class Invocation:
    """One call, from its acceptance to its answer."""

    activation: str
    number: int
    function: Deployed
    arrived: float
    granted: asyncio.Future[Instance]
    phase: int = IN_TRANSIT
    slot: int = -1
    server: Server | None = None
    instance: Instance | None = None
    entered: float = 0.0
    began: float = 0.0
    cpu_before: float = 0.0
    cold: bool = False


@dataclass(eq=False, slots=True)
class Instance:
    """A process of a function on a server."""

    number: int
    function: Deployed
    server: Server
    memory: float
    state: int = STARTING
    calls: set[Invocation] = field(default_factory=set)
    waiting: Invocation | None = None
    """The call that it was started for."""
    idle_since: float = 0.0
    pid: int | None = None
    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    cpu: float = 0.0
    """Cores in use, as last sampled."""
    channels: list[Any] = field(default_factory=list)
    ended: asyncio.Future[str] | None = None
    """Why its process ended, once it has."""

    @property
    def idle(self) -> bool:
        """Whether it could be evicted."""
        return self.state == READY and not self.calls

    @property
    def open(self) -> bool:
        """Whether it takes another call."""
        return self.state == READY and len(self.calls) < self.function.spec.concurrency and not self.function.removed

    def describe(self) -> dict[str, Any]:
        """For ``GET /v1/state``."""
        return {
            "id": f"{self.server.name}/{self.number}", "function": self.function.name,
            "state": "idle" if self.idle else _STATES[self.state], "pid": self.pid, "cpu": round(self.cpu, 4),
            "cpu_seconds": self.cpu_seconds, "memory_bytes": self.memory_bytes,
        }  # fmt: skip


@dataclass(eq=False)
class Server:
    """A server as the gateway sees it."""

    index: int
    name: str
    cores: float
    memory: float
    alive: bool = False
    instances: dict[int, Instance] = field(default_factory=dict)
    idle: OrderedDict[int, Instance] = field(default_factory=OrderedDict)
    """Least recently used first."""
    calls: dict[int, Invocation] = field(default_factory=dict)
    """All that is on it, by number."""
    queue: deque[Invocation] = field(default_factory=deque)
    memory_used: float = 0.0
    memory_idle: float = 0.0
    cold_starts: int = 0
    changed: bool = True
    """Since the policies' view of it was last brought up to date."""

    def has_room(self, memory: float) -> bool:
        """Whether a new instance fits, if idle ones are evicted."""
        return self.memory_used - self.memory_idle + memory <= self.memory


class Actuator(Protocol):
    """Who carries out what the pool decides."""

    def start(self, instance: Instance) -> None:
        """Start its process; ``ready`` or ``gone`` is called when that is known."""

    def stop(self, instance: Instance, reason: str) -> None:
        """End its process."""


Place = Callable[[Invocation | None, Deployed], Server | None]
"""The server for a call, or for an instance that no call waits for; None: none will do."""


@dataclass
class Pool:
    """All servers of a platform."""

    servers: list[Server]
    actuator: Actuator
    place: Place
    clock: Callable[[], float]
    by_host: bool = True
    """Whether each call is placed on a server; else it takes any free instance, or waits for one."""
    on_demand: bool = True
    """Whether a call without a free instance starts one; else only ``scale`` does."""
    queue_limit: int = 10_000
    keep_alive: float = 600.0
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def submit(self, call: Invocation) -> None:
        """Put a call where it can run, now or in its turn; ``CallFailed`` if it cannot be accepted."""
        function = call.function
        if not self.by_host and self._join_any(call):
            return
        if not self.by_host and not self.on_demand:
            self._queue_at_function(call)
            return
        server = self.place(call, function)
        if server is None:
            if not self.by_host:
                self._queue_at_function(call)
                return
            raise CallFailed(503, "no server is up that could take the call", again=True)
        self._enter(call, server)
        if (not server.queue or not self.by_host) and self._start_on(call, server):
            return
        if len(server.queue) >= self.queue_limit:
            self._leave_server(call)
            raise CallFailed(429, f"{self.queue_limit} calls wait for server {server.name!r} already", again=True)
        call.phase = QUEUED
        server.queue.append(call)

    def _queue_at_function(self, call: Invocation) -> None:
        function = call.function
        if len(function.queue) >= self.queue_limit:
            raise CallFailed(429, f"{self.queue_limit} calls wait for function {function.name!r} already", again=True)
        call.phase = QUEUED
        function.queue.append(call)

    def _join_any(self, call: Invocation) -> bool:
        found = [each for each in call.function.instances.values() if each.open and each.server.alive]
        if not found or call.function.queue:
            return False
        # the one with the fewest calls, the warmest among equals
        best = min(found, key=lambda each: (len(each.calls), -each.idle_since))
        self._enter(call, best.server)
        self._join(call, best)
        return True

    def _enter(self, call: Invocation, server: Server) -> None:
        call.server, call.entered = server, self.clock()
        server.calls[call.number] = call
        server.changed = True

    def _leave_server(self, call: Invocation) -> None:
        if call.server is not None:
            call.server.calls.pop(call.number, None)
            call.server.changed = True

    def _start_on(self, call: Invocation, server: Server) -> bool:
        function = call.function
        if self.by_host:
            warm = [each for each in server.instances.values() if each.function is function and each.open]
            if warm:
                self._join(call, max(warm, key=lambda each: each.idle_since))
                return True
        if not server.has_room(function.memory):
            return False
        call.cold = True
        server.cold_starts += 1
        function.counters.cold_starts += 1
        instance = self._new(function, server)
        instance.waiting = call
        instance.calls.add(call)
        call.instance, call.phase, call.entered = instance, CREATING, self.clock()
        self.actuator.start(instance)
        return True

    def _new(self, function: Deployed, server: Server) -> Instance:
        while server.memory_used + function.memory > server.memory and server.idle:
            self._stop(next(iter(server.idle.values())), "evicted: another function needs its memory")
        instance = Instance(next(self._numbers), function, server, function.memory)
        server.instances[instance.number] = function.instances[instance.number] = instance
        server.memory_used += instance.memory
        server.changed = True
        return instance

    def _join(self, call: Invocation, instance: Instance) -> None:
        self._not_idle(instance)
        instance.calls.add(call)
        self._execute(call, instance)

    def _execute(self, call: Invocation, instance: Instance) -> None:
        call.instance, call.phase, call.began = instance, RUNNING, self.clock()
        call.cpu_before = instance.cpu_seconds
        instance.server.changed = True
        if not call.granted.done():
            call.granted.set_result(instance)

    def _not_idle(self, instance: Instance) -> None:
        server = instance.server
        if server.idle.pop(instance.number, None) is not None:
            server.memory_idle -= instance.memory
            server.changed = True

    def _become_idle(self, instance: Instance) -> None:
        server = instance.server
        instance.idle_since = self.clock()
        if self.on_demand:  # what a control loop asked for is not evicted
            server.idle[instance.number] = instance
            server.memory_idle += instance.memory
        server.changed = True

    def initialising(self, instance: Instance) -> None:
        """Its process is there, and loads the function."""
        if instance.waiting is not None:
            instance.waiting.phase, instance.waiting.entered = INITIALISING, self.clock()
            instance.server.changed = True

    def ready(self, instance: Instance) -> None:
        """It can take calls: first the one that it was started for."""
        if instance.state != STARTING or instance.number not in instance.server.instances:
            return  # it was stopped while it started
        instance.state = READY
        call, instance.waiting = instance.waiting, None
        if call is not None and call in instance.calls:
            self._execute(call, instance)
        elif not instance.calls:
            self._become_idle(instance)
        self._drain(instance.server)
        self._feed(instance.function)

    def finished(self, call: Invocation) -> None:
        """A call has left its instance, with or without a result."""
        instance, server = call.instance, call.server
        self._leave_server(call)
        if instance is not None:
            instance.calls.discard(call)
            call.instance = None
            alive = instance.number in instance.server.instances
            if alive and not instance.calls:
                if instance.state == DRAINING or instance.function.removed:
                    self._stop(instance, "no longer wanted")
                elif instance.state == READY:
                    self._become_idle(instance)
        if server is not None:
            self._drain(server)
        self._feed(call.function)

    def withdraw(self, call: Invocation) -> None:
        """A call that still waits is wanted no more."""
        for queue in (call.function.queue, call.server.queue if call.server is not None else ()):
            if call in queue:
                queue.remove(call)  # type: ignore[union-attr]
        if call.instance is not None and call.instance.waiting is call:
            call.instance.waiting = None
        self.finished(call)

    def gone(self, instance: Instance, reason: str, error: CallFailed | None = None) -> None:
        """Its process has ended: calls that it had are lost; the one that waits for it is told ``error``."""
        if instance.server.instances.pop(instance.number, None) is None:
            return
        self._not_idle(instance)
        self._release(instance)
        for call in list(instance.calls):
            instance.calls.discard(call)
            call.instance = None
            self._leave_server(call)
            if not call.granted.done():
                failed = error or CallFailed(502, f"the instance could not start: {reason}", again=True)
                call.granted.set_exception(failed)
        self._drain(instance.server)
        self._feed(instance.function)

    def _release(self, instance: Instance) -> None:
        instance.function.instances.pop(instance.number, None)
        instance.server.memory_used -= instance.memory
        instance.server.changed = True

    def reserve(self, instance: Instance, memory: float) -> None:
        """An instance was given more or less memory."""
        server = instance.server
        server.memory_used += memory - instance.memory
        server.memory_idle += (memory - instance.memory) * (instance.number in server.idle)
        instance.memory, server.changed = memory, True

    def _stop(self, instance: Instance, reason: str) -> None:
        """End an instance that serves nobody; its memory is free at once."""
        self._not_idle(instance)
        instance.server.instances.pop(instance.number, None)
        self._release(instance)
        self.actuator.stop(instance, reason)

    def kill(self, instance: Instance, reason: str, error: CallFailed | None = None) -> None:
        """End an instance that cannot be used again, whatever it does."""
        if instance.number in instance.server.instances:
            self.actuator.stop(instance, reason)
            self.gone(instance, reason, error)

    def _drain(self, server: Server) -> None:
        """Start what waits on a server, strictly first-in-first-out: the head blocks all."""
        while server.queue and server.alive and self._start_on(server.queue[0], server):
            server.queue.popleft()

    def _feed(self, function: Deployed) -> None:
        """Give calls that wait for any instance to those with a free place."""
        while function.queue:
            call = function.queue.popleft()
            found = [each for each in function.instances.values() if each.open and each.server.alive]
            server = None if found or not self.on_demand else self.place(call, function)
            if found:
                best = min(found, key=lambda each: (len(each.calls), -each.idle_since))
                self._enter(call, best.server)
                self._join(call, best)
            elif server is not None and server.has_room(function.memory):
                self._enter(call, server)
                self._start_on(call, server)
            else:
                function.queue.appendleft(call)
                return

    def down(self, server: Server, reason: str) -> None:
        """A server has gone with all its instances; calls that only waited for it go elsewhere."""
        server.alive = False
        waiting = list(server.queue) + [each.waiting for each in server.instances.values() if each.waiting is not None]
        server.queue.clear()
        for call in waiting:
            if call.instance is not None:
                call.instance.calls.discard(call)
                call.instance.waiting = None
            self._leave_server(call)
            call.instance = call.server = None
            call.phase, call.cold = IN_TRANSIT, False
        for instance in list(server.instances.values()):
            self.gone(instance, reason)
        server.changed = True
        for call in waiting:
            try:
                self.submit(call)
            except CallFailed as error:
                if not call.granted.done():
                    call.granted.set_exception(error)

    def up(self, server: Server) -> None:
        """A server is there (again)."""
        server.alive = server.changed = True
        for function in {call.function for call in server.queue}:
            self._feed(function)
        self._drain(server)

    def scale(self, function: Deployed, wanted: int) -> int:
        """Bring a function to so many instances; returns how many found no room."""
        function.wanted = wanted
        current = [each for each in function.instances.values() if each.state != DRAINING]
        for _ in range(wanted - len(current)):
            server = self.place(None, function)
            if server is None or not server.has_room(function.memory):
                return wanted - sum(each.state != DRAINING for each in function.instances.values())
            self.actuator.start(self._new(function, server))
        # those that do least go first
        current.sort(key=lambda each: (len(each.calls), each.state == READY, each.idle_since))
        for instance in current[: max(len(current) - wanted, 0)]:
            if instance.calls:
                self._not_idle(instance)
                instance.state = DRAINING if instance.state == READY else instance.state
            else:
                self._stop(instance, "scaled in")
        self._feed(function)
        for server in self.servers:
            self._drain(server)
        return 0

    def expire(self) -> None:
        """End instances that were idle for longer than their function's keep-alive time."""
        if not self.on_demand:
            return
        now = self.clock()
        for server in self.servers:
            for instance in list(server.idle.values()):
                function = instance.function
                if now - instance.idle_since > self.keep_alive and len(function.instances) > function.wanted:
                    self._stop(instance, "idle for too long")

    def forget(self, function: Deployed) -> None:
        """A function is removed or replaced: its idle instances go now, busy ones with their last call."""
        function.removed = True
        for instance in list(function.instances.values()):
            if instance.idle or (instance.state == STARTING and not instance.calls):
                self._stop(instance, "its function was removed")
        for call in list(function.queue):
            if not call.granted.done():
                call.granted.set_exception(CallFailed(404, f"function {function.name!r} was removed"))
        function.queue.clear()
        for server in self.servers:
            for call in [each for each in server.queue if each.function is function]:
                server.queue.remove(call)
                self._leave_server(call)
                if not call.granted.done():
                    call.granted.set_exception(CallFailed(404, f"function {function.name!r} was removed"))
            self._drain(server)


def lost(instance: Instance, reason: str) -> InstanceLost:
    """What a caller is told whose call an instance took with it."""
    return InstanceLost(f"{reason} ({instance.server.name}, instance {instance.number})")
