"""Which instance serves which call, by the rules of the engine: warm, else new, else evict, else queue.

Nothing here does I/O: what is to be started or ended is asked of an ``Actuator``, and what came of it is reported
back. The engine's ``sim/instances.py`` and ``sim/requests.py`` have the same rules for simulated time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed
from trimtab.live.servers import Instance, Invocation, Server
from trimtab.sim.records import CREATING, DRAINING, IN_TRANSIT, INITIALISING, QUEUED, READY, RUNNING, STARTING

__all__ = ["Actuator", "Instance", "Invocation", "Place", "Pool", "Server"]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0
"""Seconds before a wanted instance whose start failed is tried again: twice as long each time."""
_NO_ROOM = 1.0
"""Seconds before a wanted instance that found no room is tried again."""
_GATHERING = 5.0
"""Seconds that wanted instances wait for all servers to come up: else the first one would get them all."""


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
    functions: Mapping[str, Deployed] = field(default_factory=dict)
    """What is deployed, by name."""
    _gathered: bool = False
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def submit(self, call: Invocation) -> None:
        """Put a call where it can run, now or in its turn; ``CallFailed`` if it cannot be accepted."""
        function = call.renew()
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
        self.evict(server, function.memory)
        instance = Instance(next(self._numbers), function, server, function.memory)
        server.add(instance)
        return instance

    def _join(self, call: Invocation, instance: Instance) -> None:
        instance.server.wake(instance)
        instance.calls.add(call)
        self._execute(call, instance)

    def _execute(self, call: Invocation, instance: Instance) -> None:
        call.instance, call.phase, call.began = instance, RUNNING, self.clock()
        call.cpu_before = instance.cpu_seconds
        instance.server.changed = True
        if not call.granted.done():
            call.granted.set_result(instance)

    def _become_idle(self, instance: Instance) -> None:
        instance.idle_since = self.clock()
        # what a control loop asked for is not evicted
        instance.server.rest(instance, evictable=self.on_demand)

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
        instance.function.pause = 0.0
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
        if instance.number not in instance.server.instances:
            return
        instance.server.drop(instance)
        for call in list(instance.calls):
            instance.calls.discard(call)
            call.instance = None
            self._leave_server(call)
            if not call.granted.done():
                failed = error or CallFailed(502, f"the instance could not start: {reason}", again=True)
                call.granted.set_exception(failed)
        if instance.state == STARTING and instance.server.alive:
            self._put_off(instance.function)
        self._drain(instance.server)
        self._feed(instance.function)
        self.restore()

    def _put_off(self, function: Deployed) -> None:
        """It cannot start: to try again at once would start processes as fast as they fail."""
        function.pause = min(max(2.0 * function.pause, _FIRST_PAUSE), _LONGEST_PAUSE)
        function.resume = self.clock() + function.pause

    def evict(self, server: Server, memory: float, keep: Deployed | None = None) -> None:
        """End idle instances, least recently used first, until so much is free; those of ``keep`` stay."""
        idle = [each for each in server.idle.values() if each.function is not keep]
        for instance in idle:
            if server.memory_used + memory <= server.memory:
                return
            self._stop(instance, "evicted: another function needs its memory")

    def _stop(self, instance: Instance, reason: str) -> None:
        """End an instance that serves nobody; its memory is free at once."""
        instance.server.drop(instance)
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
            starts = not found and self.on_demand and any(each.has_room(function.memory) for each in self.servers)
            server = self.place(call, function) if starts else None
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
        for function in list(self.functions.values()):
            self._feed(function)
        self._drain(server)
        self.restore()

    def restore(self) -> None:
        """Bring each function back to the instances that were asked for; also called several times a second."""
        now = self.clock()
        self._gathered = self._gathered or now > _GATHERING or all(server.alive for server in self.servers)
        if not self._gathered:
            return
        for function in list(self.functions.values()):
            self._feed(function)
            if now >= function.resume and len(function.staying) < function.wanted:
                # only where memory is free: two functions would evict each other for ever
                free = any(server.alive and server.is_free(function.memory) for server in self.servers)
                if free and self._start_up_to(function, Server.is_free):
                    function.resume = now + _NO_ROOM

    def _start_up_to(self, function: Deployed, fits: Callable[[Server, float], bool]) -> int:
        """Start what is missing of the wanted instances; returns how many found no room."""
        for missing in range(function.wanted - len(function.staying), 0, -1):
            server = self.place(None, function)
            if server is None or not fits(server, function.memory):
                return missing
            self.actuator.start(self._new(function, server))
        return 0

    def scale(self, function: Deployed, wanted: int) -> int:
        """Bring a function to so many instances; returns how many found no room."""
        function.wanted = wanted
        missing = self._start_up_to(function, Server.has_room)
        if missing:
            return missing
        current = function.staying
        # those that do least go first
        current.sort(key=lambda each: (len(each.calls), each.state == READY, each.idle_since))
        for instance in current[: max(len(current) - wanted, 0)]:
            if instance.calls:
                instance.server.wake(instance)
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
        """A function is removed: its idle instances go now, busy ones with their last call; who waits is told."""
        self._retire(function, "its function was removed")
        told = CallFailed(404, f"function {function.name!r} was removed")
        for call in list(function.queue):
            if not call.granted.done():
                call.granted.set_exception(told)
        function.queue.clear()
        for server in self.servers:
            for call in [each for each in server.queue if each.function is function]:
                server.queue.remove(call)
                self._leave_server(call)
                if not call.granted.done():
                    call.granted.set_exception(told)
            self._drain(server)

    def _retire(self, function: Deployed, reason: str) -> None:
        function.removed = True
        for instance in list(function.instances.values()):
            if instance.idle or (instance.state == STARTING and not instance.calls):
                self._stop(instance, reason)

    def replace(self, old: Deployed, new: Deployed) -> None:
        """Another version of a function: calls that have not reached an instance wait for that one, in their turn."""
        old.successor = new
        starting = [each for each in old.instances.values() if each.waiting is not None]
        for instance in reversed(starting):  # each goes to the front: the one that came first ends there
            self._back_to_queue(instance)
        self._retire(old, "another version was deployed")
        for queue in (old.queue, *(server.queue for server in self.servers)):
            for call in queue:
                if call.function is old:
                    call.hand_over(new)
        new.queue.extend(old.queue)
        old.queue.clear()
        self._feed(new)
        for server in self.servers:
            self._drain(server)

    def _back_to_queue(self, instance: Instance) -> None:
        """The call that an instance is started for waits again, before all others."""
        call, instance.waiting = instance.waiting, None
        assert call is not None
        instance.calls.discard(call)
        call.instance, call.phase, call.cold, call.entered = None, QUEUED, False, self.clock()
        if self.by_host:
            instance.server.queue.appendleft(call)
        else:
            self._leave_server(call)
            call.server = None
            instance.function.queue.appendleft(call)
