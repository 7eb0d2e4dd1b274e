"""A live decision: the engine's policies on records of servers, behind guards."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field, replace

import pytest

from trimtab.live.audit import Audit
from trimtab.live.board import Board
from trimtab.live.function import Deployed, FunctionSpec, figures_of
from trimtab.live.placing import Placer, Seat
from trimtab.live.pool import Pool
from trimtab.live.servers import Instance, Invocation, Server
from trimtab.policies import registry
from trimtab.policies.place.decorator import place
from trimtab.scenario.load import load_scenario

LOOP = asyncio.new_event_loop()
MIB = 2**20


@place("all-nan")
def nothing(request, host):  # type: ignore[no-untyped-def]
    return (host.inflight - host.inflight) / 0.0


@place("too-far")
def beyond(request, hosts):  # type: ignore[no-untyped-def]
    return len(hosts)


@dataclass
class World:
    """Four servers whose instances are ready at once."""

    now: float = 0.0
    stopped: list[Instance] = field(default_factory=list)

    def __post_init__(self) -> None:
        scenario = load_scenario("live-light")
        self.servers = [Server(index, f"server{index}", 0.5, 512 * MIB, alive=True) for index in range(4)]
        self.placer = Placer(Board(scenario), Audit(), lambda: self.now)
        self.pool = Pool(self.servers, self, self.placer.place, lambda: self.now)
        self.placer.pool = self.pool
        self._numbers = itertools.count()

    def start(self, instance: Instance) -> None:
        LOOP.call_soon(self.pool.ready, instance)

    def stop(self, instance: Instance, reason: str) -> None:
        self.stopped.append(instance)

    def deploy(self, name: str, memory: int = 128) -> Deployed:
        spec = FunctionSpec(code="def main(args): return {}", memory_mb=memory)
        function = Deployed(name, spec, figures_of(name, spec, None), 0, 0)
        self.placer.board.enrol(function)
        return function

    def call(self, function: Deployed) -> Invocation:
        call = Invocation("a", next(self._numbers), function, self.now, LOOP.create_future())
        function.inflight += 1
        self.pool.submit(call)
        for server in self.servers:
            for instance in list(server.instances.values()):
                self.pool.ready(instance)
        return call

    def end(self, call: Invocation) -> None:
        call.function.inflight -= 1
        self.pool.finished(call)
        self.placer.board.leave(call.slot)


WARM = World()
"""Compiled, and kept on disk, before a test may no longer write."""


@pytest.fixture
def world() -> World:
    return World()


def test_least_connections_spreads(world: World) -> None:
    one = world.deploy("one")
    calls = [world.call(one) for _ in range(8)]
    assert [len(server.calls) for server in world.servers] == [2, 2, 2, 2]
    for call in calls:
        world.end(call)
    assert [len(server.calls) for server in world.servers] == [0, 0, 0, 0]


def test_warm_first_goes_where_the_function_is(world: World) -> None:
    one, two = world.deploy("one"), world.deploy("two")
    world.placer.switch("round-robin")
    world.end(world.call(one))
    world.end(world.call(two))
    home = {each.function.name: server.name for server in world.servers for each in server.instances.values()}
    world.placer.switch("warm-first")
    for function in (two, one, two):
        call = world.call(function)
        assert call.server is not None
        assert call.server.name == home[function.name]
        assert not call.cold
        world.end(call)


@pytest.mark.parametrize("name", registry.names("place"))
def test_every_policy_places_on_a_server_that_is_up(world: World, name: str) -> None:
    world.placer.switch(name)
    one, two = world.deploy("one"), world.deploy("two", 256)
    world.servers[1].alive = False
    world.servers[1].changed = True
    calls = []
    for number in range(40):
        world.now += 0.05
        calls.append(world.call((one, two)[number % 3 == 0]))
        assert calls[-1].server is not None
        assert calls[-1].server.alive
        if number % 2:
            done = next(each for each in calls if each.granted.done())
            calls.remove(done)
            world.end(done)
    assert not world.placer.events


def test_nothing_is_placed_when_no_server_is_up(world: World) -> None:
    one = world.deploy("one")
    for server in world.servers:
        server.alive, server.changed = False, True
    assert world.placer.place(None, one) is None


@pytest.mark.parametrize(
    ("policy", "reason"), [(nothing, "score is not a number"), (beyond, "answer is not a server that will do")]
)
def test_a_bad_answer_is_replaced_and_counted(world: World, policy: object, reason: str) -> None:
    one = world.deploy("one")
    bad = replace(world.placer.seat, policy=policy, compiled=policy.compiled)  # type: ignore[attr-defined]
    world.placer.seat = bad
    call = world.call(one)
    assert call.server is world.servers[0]
    assert world.placer.events == {reason: 1}
    decision = world.placer.audit.after(0, 10)[-1]
    assert decision["guard"] == reason
    assert decision["chosen"] == "server0"
    assert decision["policy"] == policy.name  # type: ignore[attr-defined]


def test_stale_metrics_mean_the_fallback_for_who_reads_them(world: World) -> None:
    one = world.deploy("one")
    world.placer.switch("faasrank")
    world.placer.sampled = dict.fromkeys(range(4), 0.0)
    world.now = 1.0
    world.call(one)
    assert not world.placer.events
    world.now = 10.0
    world.call(one)
    assert world.placer.events == {"stale metrics": 1}
    world.placer.switch("least-connections")
    world.call(one)
    assert world.placer.events == {"stale metrics": 1}


def test_one_that_is_too_slow_sits_out(world: World) -> None:
    one = world.deploy("one")
    world.placer.switch("hashing")
    world.placer.slowest = 0.0
    world.call(one)
    world.placer.slowest = 1.0
    world.call(one)
    assert world.placer.events == {"the decision took too long": 1, "sits out: it was too slow": 1}


def test_a_shadow_decides_and_does_not_act(world: World) -> None:
    one = world.deploy("one")
    world.placer.switch("round-robin")
    world.placer.set_shadow("warm-first")
    for _ in range(4):
        world.end(world.call(one))
    shadow = world.placer.shadow
    assert shadow is not None
    assert [len(server.instances) for server in world.servers] == [1, 1, 1, 1]
    assert shadow.decisions == 4
    assert shadow.agreed < 4
    assert shadow.gain > 0.0  # a warm instance in place of three cold starts
    decisions = world.placer.audit.after(0, 10)
    assert {each["shadow"]["policy"] for each in decisions} == {"warm-first"}
    assert isinstance(world.placer.seat, Seat)


def test_decisions_are_told_with_scores(world: World) -> None:
    one = world.deploy("one")
    world.call(one)
    world.call(one)
    found = world.placer.audit.after(1, 10)
    assert [each["id"] for each in found] == [2]
    assert found[0]["candidates"] == [f"server{index}" for index in range(4)]
    assert found[0]["scores"] == [-1.0, 0.0, 0.0, 0.0]
    assert found[0]["chosen"] == "server1"
