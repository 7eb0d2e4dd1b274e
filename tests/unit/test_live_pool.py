"""The pool by the engine's rules, without a process: warm, else new, else evict, else queue."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest

from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed, FunctionSpec, figures_of
from trimtab.live.pool import Pool
from trimtab.live.servers import Instance, Invocation, Server

MIB = 2**20


class World:
    """A pool whose instances start when a test says so, on the server that it names."""

    def __init__(self, loop: asyncio.AbstractEventLoop, servers: int = 1, memory: int = 256, **rules: bool) -> None:
        self.loop, self.now, self.target = loop, 0.0, 0
        self.started: list[Instance] = []
        self.stopped: list[Instance] = []
        self.servers = [Server(index, f"server{index}", 1.0, memory * MIB, alive=True) for index in range(servers)]
        self.pool = Pool(self.servers, self, self.place, lambda: self.now, **rules)
        self._numbers = itertools.count()

    def place(self, call: Invocation | None, function: Deployed) -> Server | None:
        server = self.servers[self.target]
        return server if server.alive else None

    def start(self, instance: Instance) -> None:
        self.started.append(instance)

    def stop(self, instance: Instance, reason: str) -> None:
        self.stopped.append(instance)

    def function(self, name: str, memory: int = 128, concurrency: int = 1) -> Deployed:
        spec = FunctionSpec(code="def main(args): return {}", memory_mb=memory, concurrency=concurrency)
        return Deployed(name, spec, figures_of(name, spec, None), 0, 0)

    def call(self, function: Deployed) -> Invocation:
        call = Invocation("a", next(self._numbers), function, self.now, self.loop.create_future())
        self.pool.submit(call)
        return call


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    # made before the test may no longer open sockets, which a loop has of its own
    yield LOOP


LOOP = asyncio.new_event_loop()


def test_cold_then_warm(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop)
    one = world.function("one")
    first = world.call(one)
    assert first.cold
    assert not first.granted.done()
    world.pool.ready(world.started[0])
    assert first.granted.result() is world.started[0]
    world.pool.finished(first)
    second = world.call(one)
    assert not second.cold
    assert second.granted.result() is world.started[0]
    assert world.servers[0].memory_used == 128 * MIB


def test_the_least_recently_used_idle_instance_makes_room(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop)
    functions = [world.function(name) for name in ("one", "two", "three")]
    for function in functions[:2]:
        call = world.call(function)
        world.pool.ready(world.started[-1])
        world.now += 1.0
        world.pool.finished(call)
    world.call(functions[2])
    assert [each.function.name for each in world.stopped] == ["one"]
    assert world.servers[0].memory_used == 256 * MIB


def test_the_head_of_the_queue_blocks_all(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop)
    small, large = world.function("small"), world.function("large", 256)
    first, second = world.call(small), world.call(small)
    waits, behind = world.call(large), world.call(small)
    for instance in world.started:
        world.pool.ready(instance)
    world.pool.finished(first)
    # an instance of its function is free, but the large one has its turn first
    assert not behind.granted.done()
    world.pool.finished(second)
    assert [each.function.name for each in world.stopped] == ["small", "small"]
    world.pool.ready(world.started[-1])
    assert waits.granted.done()
    world.pool.finished(waits)
    assert world.started[-1].function is small
    assert not behind.granted.done()


def test_a_queue_has_an_end(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop, memory=128)
    world.pool.queue_limit = 1
    one = world.function("one")
    world.call(one)
    world.call(one)
    with pytest.raises(CallFailed, match="1 calls wait") as refused:
        world.call(one)
    assert refused.value.status == 429
    assert len(world.servers[0].calls) == 2


def test_an_instance_serves_as_many_calls_as_it_may(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop)
    one = world.function("one", concurrency=2)
    first = world.call(one)
    world.pool.ready(world.started[0])
    second, third = world.call(one), world.call(one)
    assert first.granted.result() is second.granted.result()
    assert third.cold


def test_a_server_that_goes_passes_on_what_only_waited(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop, servers=2, memory=128)
    one = world.function("one")
    runs = world.call(one)
    world.pool.ready(world.started[0])
    waits = world.call(one)
    world.target = 1
    world.pool.down(world.servers[0], "gone")
    assert waits.server is world.servers[1]
    assert runs.granted.done()  # whoever runs it hears from its connection
    assert world.servers[0].memory_used == 0.0
    assert not world.servers[0].instances


def test_an_instance_that_cannot_start_tells_its_call(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop)
    call = world.call(world.function("one"))
    world.pool.gone(world.started[0], "no luck")
    with pytest.raises(CallFailed, match="could not start: no luck"):
        call.granted.result()
    assert world.servers[0].memory_used == 0.0


def test_scaling_starts_and_ends_instances(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop, memory=512, by_host=False, on_demand=False)
    one = world.function("one")
    waits = world.call(one)
    assert not world.started
    assert world.pool.scale(one, 3) == 0
    for instance in world.started:
        world.pool.ready(instance)
    assert waits.granted.done()
    assert world.pool.scale(one, 6) == 2  # two find no room
    assert len(one.instances) == 4
    world.pool.scale(one, 0)
    assert waits.granted.result() not in world.stopped  # it drains
    world.pool.finished(waits)
    assert not one.instances


def test_idle_instances_expire_but_for_those_that_are_wanted(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop, memory=512)
    world.pool.keep_alive = 10.0
    one = world.function("one")
    world.pool.scale(one, 2)
    for instance in list(world.started):
        world.pool.ready(instance)
    one.wanted = 1
    world.now = 9.0
    world.pool.expire()
    assert len(one.instances) == 2
    world.now = 11.0
    world.pool.expire()
    assert len(one.instances) == 1


def test_a_removed_function_takes_no_more_calls(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop, memory=128)
    one = world.function("one")
    runs = world.call(one)
    world.pool.ready(world.started[0])
    waits = world.call(one)
    world.pool.forget(one)
    with pytest.raises(CallFailed, match="was removed"):
        waits.granted.result()
    assert one.instances
    world.pool.finished(runs)
    assert not one.instances


def test_calls_that_wait_move_to_the_next_version(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop, memory=256)
    old, new = world.function("one"), world.function("one")
    runs, starts, waits = world.call(old), world.call(old), world.call(old)
    world.pool.ready(world.started[0])
    world.pool.replace(old, new)
    assert runs.granted.result() is world.started[0]
    assert world.stopped == [world.started[1]]  # the call that it was started for has not seen the old version
    assert world.started[-1].function is new
    world.pool.ready(world.started[-1])
    assert starts.granted.result().function is new
    assert (starts.function, waits.function, runs.function) == (new, new, old)
    assert list(world.servers[0].queue) == [waits]
    world.pool.finished(runs)
    assert not old.instances
    world.pool.ready(world.started[-1])
    assert waits.granted.result().function is new


def test_so_do_those_that_wait_for_any_instance(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop, memory=256, by_host=False, on_demand=False)
    old, new = world.function("one"), world.function("one")
    first, second = world.call(old), world.call(old)
    world.pool.replace(old, new)
    world.pool.scale(new, 1)
    world.pool.ready(world.started[0])
    assert first.granted.result().function is new
    assert list(new.queue) == [second]
    assert not old.queue


def test_a_call_that_is_tried_again_takes_the_version_that_is_there_now(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop)
    old, new = world.function("one"), world.function("one")
    world.pool.replace(old, new)
    assert world.call(old).function is new
    world.pool.forget(new)
    with pytest.raises(CallFailed, match="was removed"):
        world.call(old)


def controlled(loop: asyncio.AbstractEventLoop, *, up: bool) -> tuple[World, Deployed]:
    world = World(loop, servers=2, memory=256, by_host=False, on_demand=False)
    one = world.function("one")
    world.pool.functions = {"one": one}
    for server in world.servers:
        server.alive = up
    return world, one


def test_wanted_instances_start_when_all_servers_are_up(loop: asyncio.AbstractEventLoop) -> None:
    world, one = controlled(loop, up=False)
    one.wanted = 2
    waits = world.call(one)
    world.pool.up(world.servers[0])
    assert not world.started, "the first server is not to have them all"
    world.pool.up(world.servers[1])
    assert len(one.instances) == 2
    world.pool.ready(world.started[0])
    assert waits.granted.done()


def test_wanted_instances_do_not_wait_for_a_server_that_never_comes(loop: asyncio.AbstractEventLoop) -> None:
    world, one = controlled(loop, up=False)
    one.wanted = 1
    world.pool.up(world.servers[0])
    world.now = 6.0
    world.pool.restore()
    assert len(one.instances) == 1


def test_a_wanted_instance_that_is_killed_comes_back(loop: asyncio.AbstractEventLoop) -> None:
    world, one = controlled(loop, up=True)
    world.pool.scale(one, 1)
    world.pool.ready(world.started[0])
    waits = world.call(one)
    world.pool.gone(world.started[0], "killed")
    assert waits.granted.done()
    after = world.call(one)
    assert len(world.started) == 2
    world.pool.ready(world.started[1])
    assert after.granted.result() is world.started[1]


def test_one_that_cannot_start_is_tried_again_later_and_later(loop: asyncio.AbstractEventLoop) -> None:
    world, one = controlled(loop, up=True)
    world.pool.scale(one, 1)
    for pause in (0.25, 0.5, 1.0):
        world.pool.gone(world.started[-1], "no luck")
        tries = len(world.started)
        world.now += pause - 0.01
        world.pool.restore()
        assert len(world.started) == tries
        world.now += 0.01
        world.pool.restore()
        assert len(world.started) == tries + 1


def test_a_server_that_comes_up_feeds_calls_that_wait_for_any_instance(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop, servers=2, by_host=False)
    one = world.function("one")
    world.pool.functions = {"one": one}
    for server in world.servers:
        server.alive = False
    waits = world.call(one)
    world.pool.up(world.servers[0])
    world.pool.ready(world.started[0])
    assert waits.granted.done()


def test_core_seconds_of_instances_that_ended_still_count(loop: asyncio.AbstractEventLoop) -> None:
    world = World(loop, memory=512)
    one = world.function("one")
    world.pool.scale(one, 2)
    for instance, used in zip(world.started, (5.0, 3.0), strict=True):
        world.pool.ready(instance)
        instance.cpu_seconds = used
    world.pool.gone(world.started[0], "killed")
    assert one.cpu_seconds == 8.0
