"""Servers, their instances and the calls on them, as the gateway sees them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any

from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed
from trimtab.sim.records import DRAINING, IN_TRANSIT, READY, STARTING

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

    def hand_over(self, function: Deployed) -> None:
        """Another version of its function will serve it."""
        self.function.inflight -= 1
        function.inflight += 1
        function.counters.arrivals += 1
        self.function = function

    def renew(self) -> Deployed:
        """Its function as it is deployed now; ``CallFailed`` if it is no more."""
        while self.function.successor is not None:
            self.hand_over(self.function.successor)
        if self.function.removed:
            raise CallFailed(404, f"function {self.function.name!r} was removed")
        return self.function


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

    def is_free(self, memory: float) -> bool:
        """Whether a new instance fits as it is."""
        return self.memory_used + memory <= self.memory

    def evictable(self, keep: Deployed) -> float:
        """Memory of idle instances of other functions."""
        return sum(each.memory for each in self.idle.values() if each.function is not keep)

    def add(self, instance: Instance) -> None:
        """An instance is about to start here."""
        self.instances[instance.number] = instance.function.instances[instance.number] = instance
        self.memory_used += instance.memory
        self.changed = True

    def drop(self, instance: Instance) -> None:
        """It has gone, or is about to: its memory is free."""
        self.wake(instance)
        self.instances.pop(instance.number, None)
        instance.function.instances.pop(instance.number, None)
        instance.function.cpu_ended += instance.cpu_seconds
        self.memory_used -= instance.memory
        self.changed = True

    def rest(self, instance: Instance, *, evictable: bool) -> None:
        """It has nothing to do."""
        if evictable:
            self.idle[instance.number] = instance
            self.memory_idle += instance.memory
        self.changed = True

    def wake(self, instance: Instance) -> None:
        """It has something to do."""
        if self.idle.pop(instance.number, None) is not None:
            self.memory_idle -= instance.memory
            self.changed = True

    def reserve(self, instance: Instance, memory: float) -> None:
        """An instance is given more or less memory."""
        if instance.number not in self.instances:
            return
        self.memory_used += memory - instance.memory
        self.memory_idle += (memory - instance.memory) * (instance.number in self.idle)
        instance.memory, self.changed = memory, True
