"""How large the instances of a function are: checked, then changed while they run, all of them or none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trimtab.errors import TrimtabError
from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed
from trimtab.live.pool import Pool
from trimtab.live.servers import Instance, Server

if TYPE_CHECKING:
    from trimtab.live.platform import Platform

_MIB = 2**20


def check_cpu(servers: list[Server], cpu: float | None) -> None:
    """``TrimtabError`` if no server has so many cores: the kernel would refuse every start."""
    largest = max(server.cores for server in servers)
    if cpu is not None and cpu > largest:
        raise TrimtabError(f"cpu = {cpu:g}, must be at most {largest:g}: no server has more cores")


def check_memory(servers: list[Server], name: str, memory: float, unit: int = 1) -> None:
    """``TrimtabError`` if no server has so much."""
    largest = max(server.memory for server in servers)
    if memory > largest:
        raise TrimtabError(f"{name} = {int(memory / unit)}, must be at most {int(largest / unit)}: no server has more")


async def resize(platform: Platform, function: Deployed, cpu: float | None, memory: float | None) -> None:
    """Change CPU and memory of every instance, without a restart; ``CallFailed`` leaves all as it was."""
    async with function.resizing:
        done: list[Instance] = []
        try:
            # again while others start meanwhile with the size of before
            while fresh := [each for each in function.instances.values() if each not in done]:
                if memory is not None:
                    _grow(platform.pool, function, memory)
                done += fresh
                answers = await asyncio.gather(*(platform.fleet.limit(each, cpu, memory) for each in fresh))
                refused = next((each for each in answers if each is not None), None)
                if refused is not None:
                    raise CallFailed(409, f"an instance could not be resized: {refused}")
        except CallFailed:
            await _undo(platform, function, done, cpu is not None, memory is not None)
            raise
        # only now: a size that the kernel refuses must not be what the next start is given
        function.cpu = cpu if cpu is not None else function.cpu
        function.memory = memory if memory is not None else function.memory
        for instance in function.instances.values():
            instance.server.reserve(instance, function.memory)


async def _undo(platform: Platform, function: Deployed, instances: list[Instance], cpu: bool, memory: bool) -> None:
    there = [each for each in instances if each.number in each.server.instances]
    for instance in there:
        instance.server.reserve(instance, function.memory)
    await asyncio.gather(*(
        platform.fleet.limit(
            each,
            # one without a limit of its own has all of its server
            (each.server.cores if function.cpu is None else function.cpu) if cpu else None,
            function.memory if memory else None,
        )
        for each in there
    ))  # fmt: skip


def _grow(pool: Pool, function: Deployed, memory: float) -> None:
    """Reserve more for all its instances; ``CallFailed`` names a server without room, and nothing is reserved."""
    by_server: dict[int, list[Instance]] = {}
    for instance in function.instances.values():
        by_server.setdefault(instance.server.index, []).append(instance)
    for index, own in by_server.items():
        server = pool.servers[index]
        others = server.memory_used - sum(each.memory for each in own) - server.evictable(function)
        if others + sum(max(memory, each.memory) for each in own) > server.memory:
            most = int((server.memory - others) / len(own))
            raise CallFailed(
                409, f"memory = {int(memory)}, must be at most {most}: server {server.name!r} holds {len(own)} "
                f"of its instances and {int(others)} bytes of others",
            )  # fmt: skip
    for instance in list(function.instances.values()):
        if instance.memory < memory:
            pool.evict(instance.server, memory - instance.memory, function)
            instance.server.reserve(instance, memory)
