"""Sizes of instances: all of them change or none, and never beyond what their server has."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from trimtab.errors import TrimtabError
from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed, FunctionSpec, figures_of
from trimtab.live.pool import Pool
from trimtab.live.servers import Instance, Server
from trimtab.live.sizing import check_cpu, check_memory, resize

LOOP = asyncio.new_event_loop()
MIB = 2**20


@dataclass
class World:
    """One server, whose kernel refuses what a test says."""

    refuses: tuple[int, ...] = ()
    """Numbers of instances whose first change is refused."""
    memory: int = 512
    told: list[tuple[int, float | None, float | None]] = field(default_factory=list)
    stopped: list[Instance] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.servers = [Server(0, "server0", 2.0, self.memory * MIB, alive=True)]
        self.pool = Pool(self.servers, self, lambda call, function: self.servers[0], lambda: 0.0)
        self.fleet = self

    def start(self, instance: Instance) -> None:
        LOOP.call_soon(self.pool.ready, instance)

    def stop(self, instance: Instance, reason: str) -> None:
        self.stopped.append(instance)

    async def limit(self, instance: Instance, cpu: float | None, memory: float | None) -> str | None:
        first = not any(number == instance.number for number, _, _ in self.told)
        self.told.append((instance.number, cpu, memory))
        await asyncio.sleep(0)
        return "invalid argument" if first and instance.number in self.refuses else None

    def function(self, name: str, instances: int, **wanted: Any) -> Deployed:
        spec = FunctionSpec(code="def main(args): return {}", memory_mb=128, **wanted)
        found = Deployed(name, spec, figures_of(name, spec, None), 0, 0)
        self.pool.scale(found, instances)
        LOOP.run_until_complete(asyncio.sleep(0))
        return found

    def resize(self, function: Deployed, cpu: float | None, memory_mb: int | None) -> None:
        memory = None if memory_mb is None else float(memory_mb * MIB)
        LOOP.run_until_complete(resize(cast(Any, self), function, cpu, memory))


def test_a_refused_size_changes_nothing() -> None:
    world = World(refuses=(1,))
    one = world.function("one", 2, cpu=0.5)
    with pytest.raises(CallFailed, match="could not be resized: invalid argument") as refused:
        world.resize(one, 1.5, 160)
    assert refused.value.status == 409
    assert (one.cpu, one.memory) == (0.5, 128 * MIB)
    assert world.servers[0].memory_used == 256 * MIB
    assert world.told[2:] == [(0, 0.5, 128 * MIB), (1, 0.5, 128 * MIB)]  # back to what they had


def test_without_a_limit_of_its_own_it_gets_back_all_of_its_server() -> None:
    world = World(refuses=(0,))
    one = world.function("one", 1)
    with pytest.raises(CallFailed):
        world.resize(one, 1.5, None)
    assert one.cpu is None
    assert world.told[1:] == [(0, 2.0, None)]


def test_a_size_that_fits_is_what_the_next_start_gets() -> None:
    world = World()
    one = world.function("one", 2)
    world.resize(one, 1.5, 256)
    assert (one.cpu, one.memory) == (1.5, 256 * MIB)
    assert world.servers[0].memory_used == 512 * MIB
    world.resize(one, None, 64)
    assert world.servers[0].memory_used == 128 * MIB


def test_memory_is_never_promised_twice() -> None:
    world = World()
    one, two = world.function("one", 2), world.function("two", 1)
    # 512 MiB: one of the other's 128 is idle and could go, so that each of the two may have half
    with pytest.raises(CallFailed, match=f"must be at most {256 * MIB}: server 'server0' holds 2") as refused:
        world.resize(one, None, 300)
    assert refused.value.status == 409
    assert not world.told and not world.stopped
    assert world.servers[0].memory_used == 384 * MIB
    world.resize(one, None, 250)
    assert [each.function for each in world.stopped] == [two]
    assert world.servers[0].memory_used == 500 * MIB


def test_what_no_server_has_is_refused_at_once() -> None:
    servers = World().servers
    check_cpu(servers, None)
    check_cpu(servers, 2.0)
    with pytest.raises(TrimtabError, match=r"cpu = 2.5, must be at most 2: no server has more cores"):
        check_cpu(servers, 2.5)
    with pytest.raises(TrimtabError, match=r"memory_mb = 600, must be at most 512: no server has more"):
        check_memory(servers, "memory_mb", 600.0 * MIB, MIB)
