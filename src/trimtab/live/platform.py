"""The platform of one machine: servers, functions and calls, and who decides about them."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from dataclasses import dataclass
from pathlib import Path

from trimtab.live.audit import Audit
from trimtab.live.board import Board
from trimtab.live.calling import Calling
from trimtab.live.cgroup import Group
from trimtab.live.fleet import Fleet
from trimtab.live.function import Deployed, FunctionSpec, figures_of
from trimtab.live.history import History
from trimtab.live.isolation import Isolation
from trimtab.live.latency import Latency
from trimtab.live.metering import Metering
from trimtab.live.placing import Placer
from trimtab.live.pool import Pool
from trimtab.live.scaling import Scaling
from trimtab.live.selecting import Selecting
from trimtab.live.servers import Server
from trimtab.live.sizing import check_cpu, check_memory
from trimtab.scenario.model import Scenario
from trimtab.sim.build import host_names

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
        self.fleet = Fleet(self)
        platform = scenario.platform
        self.pool = Pool(
            self.servers, self.fleet, self.placer.place, self.clock, by_host=platform.dispatch == "host",
            on_demand=platform.instances == "on-demand", keep_alive=platform.keep_alive.seconds,
            functions=self.functions,
        )  # fmt: skip
        if platform.queue_limit is not None:
            self.pool.queue_limit = platform.queue_limit
        self.placer.pool = self.pool
        self.metering, self.calling = Metering(self), Calling(self)
        self._deployments = itertools.count()
        self._ticking: asyncio.Task[None] | None = None
        self._known = {each.name: each for each in scenario.functions}
        self.switch_place(settings.place)
        self.scaling = Scaling(self)
        self.scaling.switch(settings.scale)
        self.selecting = Selecting(self)
        self.selecting.switch(settings.select)

    def clock(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    def switch_place(self, name: str) -> None:
        """Another placement policy decides from now on."""
        self.placer.switch(name)
        self.history.band(name)

    def begin(self) -> None:
        """Start all servers."""
        self.fleet.begin()
        self._ticking = asyncio.get_running_loop().create_task(self._tick())

    @property
    def ready(self) -> bool:
        """Whether every server is up."""
        return all(server.alive for server in self.servers)

    async def close(self) -> None:
        """End every server and instance."""
        if self._ticking is not None:
            self._ticking.cancel()
        await self.fleet.close()

    async def _tick(self) -> None:
        pool = self.pool
        while True:
            await asyncio.sleep(_TICK)
            for part in (pool.expire, pool.restore, self.metering.tick, self.selecting.tick, self.scaling.tick):
                try:
                    waiting = part()
                    if waiting is not None:
                        await waiting
                except Exception:  # the others, and the next tick, must go on
                    log.exception("control loop")

    def deploy(self, name: str, spec: FunctionSpec) -> Deployed:
        """Deploy a function, or another version of one: calls that wait for the old one wait for the new one."""
        check_memory(self.servers, "memory_mb", spec.memory, _MIB)
        check_cpu(self.servers, spec.cpu)
        old = self.functions.get(name)
        if old is not None:
            self.placer.board.strike(old)
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
        if old is not None:
            if not self.pool.on_demand:  # what a control loop asked for, it asked for whatever the version
                function.wanted = old.wanted
            self.pool.replace(old, function)
        self.pool.restore()  # which waits until servers are up
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


def _servers(scenario: Scenario) -> list[Server]:
    groups = [group for group in scenario.hosts for _ in range(group.count)]
    return [
        Server(index, name, group.effective_cores or group.cores, group.memory)
        for index, (name, group) in enumerate(zip(host_names(scenario), groups, strict=True))
    ]
