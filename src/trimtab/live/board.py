"""The engine's record arrays, filled from a real platform: what a compiled placement policy looks at.

A server's records are written anew at a decision when anything about it has changed: its counters, the instances of
each function on it, and the lists of calls that run, start and wait. What a monitor samples comes from its probes.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

from trimtab.live.function import Deployed
from trimtab.live.pool import Invocation, Pool, Server
from trimtab.scenario.model import Function, Scenario
from trimtab.sim import records
from trimtab.sim.build import build_functions, build_hosts, build_mind, build_world
from trimtab.sim.deployment import Deployment
from trimtab.sim.state import Core, Mind
from trimtab.workload.table import Workload

Floats = npt.NDArray[np.float64]

_SHOWN = 64
"""Calls of a server that a policy gets to see; those that look ahead look at 48 at most."""
_ROOM = 8
_LOAD_AVERAGE = 60.0


class Board:
    """Records of hosts, functions and calls."""

    def __init__(self, scenario: Scenario, seed: int = 1) -> None:
        self.scenario, self.seed = scenario, seed
        workload = self._workload = Workload((), np.zeros(0), np.zeros(0, np.int32), np.zeros(0), 0.0)
        hosts = build_hosts(scenario)
        hosts["sample"] = np.iinfo(np.int64).max  # sampled by real probes, never from the engine's integrals
        hosts["state"] = records.DOWN
        functions = np.zeros(0, records.FUNCTION)
        world = build_world(scenario, workload, hosts, functions, seed)
        empty = np.zeros(1, records.EVENT)
        self.core = Core(
            world, hosts, np.zeros(1, records.INSTANCE), functions, np.zeros(len(hosts), records.POOL),
            np.zeros(256, records.ACTIVE), empty, empty.copy(), np.zeros(1, records.RESULT),
            np.zeros(len(hosts), np.int32), np.zeros(1, np.int64),
        )  # fmt: skip
        self.core.active["id"] = records.NONE
        self._free = list(range(len(self.core.active)))
        self._functions: list[Deployed | None] = []
        self._news = np.zeros(1024)
        self._rebuild()

    def mind(self, memory: int, weights: tuple[float, ...]) -> Mind:
        """A policy's own arrays."""
        return build_mind(self.core, memory, weights, self.seed, 0)

    def enrol(self, function: Deployed) -> None:
        """A function is deployed: it takes the first free row."""
        row = next((index for index, each in enumerate(self._functions) if each is None), len(self._functions))
        self._functions[row : row + 1] = [function]
        function.index = row
        self._rebuild()

    def strike(self, function: Deployed) -> None:
        """A function is removed; its row is free once no call names it."""
        if function.index < len(self._functions) and self._functions[function.index] is function:
            self._functions[function.index] = None

    def _rebuild(self) -> None:
        deployed = tuple(
            Deployment(each.figures.name, each.figures, None) if each is not None else _BLANK
            for each in self._functions or [None]  # never empty: a compiled function does not check its index
        )
        rows = build_functions(self.scenario, deployed, self._workload)
        rows["next"] = rows["site"] = records.NONE
        world = self.core.world[0]
        world["functions"] = len(rows)
        pools = np.zeros(len(self.core.hosts) * len(rows), records.POOL)
        pools["first"] = pools["last"] = records.NONE
        self.core = self.core._replace(functions=rows, pools=pools)

    def slot(self) -> int:
        """A free record, for a call or for a start that no call waits for."""
        if len(self._free) < _ROOM:
            self._grow()
        return self._free.pop()

    def leave(self, slot: int) -> None:
        """A call has ended: its record is free."""
        self.core.active[slot]["id"] = records.NONE
        self._free.append(slot)

    def _grow(self) -> None:
        old = self.core.active
        larger = np.concatenate([old, np.zeros(len(old), old.dtype)])
        larger["id"][len(old) :] = records.NONE
        self._free = [*range(len(old), len(larger)), *self._free]
        self.core = self.core._replace(active=larger)

    def news(self, pool: Pool, now: float, slot: int, number: int, function: Deployed) -> Floats:
        """What has changed since the last decision, and what is to be placed: for ``decide.read_news``."""
        deployed = [each for each in self._functions if each is not None]
        calls = sum(len(server.calls) for server in pool.servers)
        waiting = sum(len(server.queue) for server in pool.servers)
        row: list[float] = [now, calls, waiting, slot, number, function.index, function.memory, len(deployed)]
        for each in deployed:
            row += (each.index, each.inflight, len(each.instances))
        changed = [server for server in pool.servers if server.changed]
        row.append(len(changed))
        for server in changed:
            self._describe(server, row)
            server.changed = False
        if len(row) > len(self._news):
            self._news = np.zeros(2 * len(row))
        self._news[: len(row)] = row
        return self._news

    def _describe(self, server: Server, row: list[float]) -> None:
        pools: dict[int, list[int]] = {}
        for instance in server.instances.values():
            if not instance.function.removed:
                pool = pools.setdefault(instance.function.index, [0, 0, 0])
                pool[2 if instance.state == records.STARTING else 0 if instance.idle else 1] += 1
        calls, runs, held = self._calls(server)
        row += (
            server.index, server.alive, len(server.calls), len(server.queue), server.memory_used, server.memory_idle,
            server.memory - held, server.cold_starts, len(pools), len(calls), runs,
        )  # fmt: skip
        for index, counts in pools.items():
            row += (index, *counts)
        for call in calls:
            row += call

    def _calls(self, server: Server) -> tuple[list[tuple[float, ...]], int, float]:
        """Its calls by list, how many run, and the memory that all of them need."""
        running: list[tuple[float, ...]] = []
        pending: list[tuple[float, ...]] = []
        held = 0.0
        for call in server.calls.values():
            held += call.function.memory
            if call.phase in (records.RUNNING, records.INITIALISING):
                running.append((call.slot, 0, call.phase, call.entered, _done(call)))
            elif call.phase == records.CREATING:
                pending.append((call.slot, 1, call.phase, call.entered, 0.0))
        queued = [(call.slot, 2, call.phase, call.entered, 0.0) for call in itertools.islice(server.queue, _SHOWN)]
        # each is put in front of its list: those that wait in the order of their turn, and the newest start first
        return [*running[:_SHOWN], *pending[:_SHOWN], *reversed(queued)], len(running), held

    def sample(self, server: Server, cores: float, memory: float, disk: float, network: float, elapsed: float) -> None:
        """What a server's monitor saw; the load average is the kernel's, exponential over a minute."""
        host = self.core.hosts[server.index]
        host["cpu"] = cores
        host["disk_rate"], host["network_rate"] = disk, network
        decay = math.exp(-elapsed / _LOAD_AVERAGE)
        waiting = float(host["running"]) + len(server.queue)
        host["load_average"] = float(host["load_average"]) * decay + waiting * (1.0 - decay)
        server.changed = True  # calls have come further


def _done(call: Invocation) -> float:
    """Core-seconds that a call has had, as its instance's group counts them."""
    if call.instance is None or len(call.instance.calls) != 1:
        return 0.0
    return max(call.instance.cpu_seconds - call.cpu_before, 0.0)


_BLANK = Deployment("-", Function(name="-"), None)
"""In a row whose function was removed."""
