"""Streams arrive, are routed, and send their queries over an emulated network to real workers, in real time.

The tables are those of a simulation, filled from what really happens instead of by the engine: so a policy, a
selector and the code that asks them cannot tell the difference. Nothing is ever late on purpose: a query's time
counts from when it was due, not from when the scheduler got round to it.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.control.selecting import SelectLoop
from trimtab.errors import TrimtabError
from trimtab.live.edge.detector import overlap
from trimtab.live.edge.frames import Frame
from trimtab.live.edge.kernels import route_next, stream_over
from trimtab.live.edge.master import Master
from trimtab.live.edge.message import ANSWERED, Query, Reply
from trimtab.live.edge.monitor import Monitor
from trimtab.sim import records
from trimtab.sim.kernel import direct
from trimtab.sim.simulation import Simulation

STEP = 1.0
"""Seconds between two looks at the workers, and between two samples of a selector."""
GRACE = 10.0
"""Seconds after the last arrival after which what has not been answered has failed."""
FOUND = 0.3
"""Overlap of a detection with the true box from which on it is that face."""

_DELIVER, _RESPOND, _STREAM_ENDS, _TICK = range(4)


@dataclass(frozen=True)
class Decision:
    """One routing: which worker a stream was bound to (-1: rejected), and by whom."""

    time: float
    stream: int
    worker: int
    policy: str
    seconds: float


class Scheduler:
    """Plays one workload against the workers of a master."""

    def __init__(
        self, simulation: Simulation, master: Master, frames: tuple[Frame, ...], select: SelectLoop | None = None
    ) -> None:
        self.simulation, self._master, self._frames, self._select = simulation, master, frames, select
        self.monitor = Monitor(simulation)
        self.decisions: list[Decision] = []
        self.samples: list[tuple[float, float, float, float]] = []
        """(time, in flight, core-seconds used so far, workers that are up) every second."""
        self.found = np.full(len(simulation.workload), -1, np.int8)
        """By query: 1 where the answer holds the face that is there, 0 where not, -1 without an answer."""
        self._heap: list[tuple[float, int, int]] = [(STEP, _TICK, 0)]
        self._at: list[set[int]] = [set() for _ in master.workers]
        """Queries that each worker has not answered yet."""
        self._ended, self._next_query = 0, 0
        self._down: dict[int, float] = {}
        self._origin = math.nan
        prepare(simulation)
        self._ask, self._stream_over = direct(route_next), direct(stream_over)

    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._origin

    def unanswered(self, worker: int) -> int:
        """Queries that a worker has."""
        return len(self._at[worker])

    def play(self, progress: Callable[[float], None] = lambda seconds: None) -> None:
        """From the first stream to the last answer."""
        workload, world = self.simulation.workload, self.simulation.core.world[0]
        last = float(workload.arrival[-1]) + GRACE
        self._progress = progress
        self._origin = time.monotonic()
        while True:
            self._do_due()
            if self._ended == len(workload) or self.now() >= last:
                break
            for worker, reply in self._master.poll(min(self._next_time(), last) - self.now()):
                world["now"] = self.now()
                if reply is None:
                    self._worker_died(worker)
                else:
                    self._replied(worker, reply)
        world["now"] = self.now()

    def _next_time(self) -> float:
        """When something is due next."""
        world, columns = self.simulation.core.world[0], self.simulation.columns
        due = self._heap[0][0] if self._heap else math.inf
        if world["next_stream"] < world["streams"]:
            due = min(due, float(columns.streams[world["next_stream"]]["arrival"]))
        if self._next_query < len(columns.arrival):
            due = min(due, float(columns.arrival[self._next_query]))
        return due

    def _do_due(self) -> None:
        """All that is due, in the order in which it was: a stream before its queries."""
        world, columns = self.simulation.core.world[0], self.simulation.columns
        while (due := self._next_time()) <= (now := self.now()):
            world["now"] = now
            stream = int(world["next_stream"])
            if stream < world["streams"] and columns.streams[stream]["arrival"] <= due:
                self._route(stream)
            elif self._next_query < len(columns.arrival) and columns.arrival[self._next_query] <= due:
                self._next_query += 1
                self._send(self._next_query - 1)
            else:
                _, kind, index = heapq.heappop(self._heap)
                self._happen(kind, index)

    def _happen(self, kind: int, index: int) -> None:
        if kind == _DELIVER:
            self._deliver(index)
        elif kind == _RESPOND:
            self._close(index, records.COMPLETED)
        elif kind == _STREAM_ENDS:
            self._stream_over(self.simulation.core, self.simulation.columns, index)
        else:
            self._tick()

    def _route(self, index: int) -> None:
        """Ask the policy for a worker for the life of a stream."""
        simulation = self.simulation
        began = time.perf_counter()
        choice = int(self._ask(simulation.core, simulation.columns, simulation.route_mind, simulation.route.compiled))
        seconds = time.perf_counter() - began
        if choice < records.NONE:
            raise TrimtabError(
                f"policy {simulation.route.name!r} answered {choice} for stream {index}, must be a feasible worker"
            )
        self.decisions.append(Decision(self.now(), index, choice, simulation.route.name, seconds))
        if choice >= 0:
            stream = simulation.columns.streams[index]
            heapq.heappush(self._heap, (float(stream["arrival"] + stream["duration"]), _STREAM_ENDS, index))

    def _send(self, identity: int) -> None:
        """A query sets out for the worker of its stream; the network's delays are those of the simulator."""
        core, columns = self.simulation.core, self.simulation.columns
        world = core.world[0]
        stream = columns.streams[columns.stream[identity]]
        index = int(stream["worker"])
        if index == records.NONE:
            self._ended += 1
            core.results[identity]["status"] = records.REJECTED
            world["rejected"] += 1
            return
        worker, result = core.functions[index], core.results[identity]
        world["inflight"] += 1
        worker["inflight"] += 1
        worker["arrivals"] += 1
        result["worker"], result["host"] = index, self._host(int(worker["site"]))
        result["accurate"] = worker["accuracy"] >= stream["accuracy"]
        link = columns.links[int(stream["source"]) * int(world["sites"]) + int(worker["site"])]
        up, down = (
            float(stream["access"] + max(link["delay"] + link["deviation"] * columns.noise[3 * identity + way], 0.0))
            for way in (0, 1)
        )
        up += float(stream["size"] / stream["bandwidth"] + stream["size"] / link["bandwidth"])
        self._down[identity] = down
        heapq.heappush(self._heap, (float(columns.arrival[identity]) + up, _DELIVER, identity))

    def _host(self, site: int) -> int:
        return int(np.argmax(self.simulation.core.hosts["site"] == site))

    def _deliver(self, identity: int) -> None:
        """A query has reached its site: the worker's process gets it."""
        core, columns = self.simulation.core, self.simulation.columns
        index = int(core.results[identity]["worker"])
        worker = core.functions[index]
        if not self._master.alive(index):
            self._leave(identity, index)
            self._close(identity, records.FAILED)
            return
        latest = math.inf
        if core.world[0]["drops_late"]:
            in_time = self._deadline(identity) - self._down[identity]
            latest = self._origin + in_time - float(worker["base"] + worker["each"])
        self._at[index].add(identity)
        noise = float(columns.noise[3 * identity + 2])
        self._master.send(index, Query(identity, latest, noise, self._picture(identity)))

    def _picture(self, identity: int) -> bytes:
        """The frame of a query; where workers are emulated, as many bytes as it would have."""
        if self._frames:
            return self._frames[identity % len(self._frames)].picture
        return bytes(int(self.simulation.columns.streams[self.simulation.columns.stream[identity]]["size"]))

    def _deadline(self, identity: int) -> float:
        columns = self.simulation.columns
        return float(columns.arrival[identity] + columns.streams[columns.stream[identity]]["deadline"])

    def _replied(self, worker: int, reply: Reply) -> None:
        """A worker is done with a query; the answer still has to travel back."""
        identity = reply.identity
        if identity not in self._at[worker]:
            return
        self._at[worker].discard(identity)
        self._leave(identity, worker)
        if reply.status != ANSWERED:
            self._close(identity, records.FAILED)
            return
        core = self.simulation.core
        core.functions[worker]["completions"] += 1
        core.results[identity]["start"] = reply.begun - self._origin
        if self._frames:
            box = (reply.left, reply.top, reply.right, reply.bottom)
            truth = self._frames[identity % len(self._frames)].face
            self.found[identity] = reply.faces > 0 and overlap(box, truth) > FOUND
        self.monitor.note(worker, reply, self.found[identity] == 1)
        heapq.heappush(self._heap, (self.now() + self._down[identity], _RESPOND, identity))

    def _leave(self, identity: int, worker: int) -> None:
        functions = self.simulation.core.functions
        functions[worker]["inflight"] -= 1
        functions[worker]["served"] += 1

    def _close(self, identity: int, status: int) -> None:
        """The end of a query, one way or another."""
        world, result = self.simulation.core.world[0], self.simulation.core.results[identity]
        del self._down[identity]
        self._ended += 1
        world["inflight"] -= 1
        result["status"] = status
        if status != records.COMPLETED:
            world["failed"] += 1
            return
        now = self.now()
        result["completion"] = now
        world["completed"] += 1
        if now > self._deadline(identity):
            result["late"] = 1
            world["late"] += 1

    def _worker_died(self, worker: int) -> None:
        """What it had not answered has failed; until another has started in its place it is not feasible."""
        self.simulation.core.functions[worker]["ready"] = 0
        for identity in sorted(self._at[worker]):
            self._leave(identity, worker)
            self._close(identity, records.FAILED)
        self._at[worker].clear()

    def _tick(self) -> None:
        """Once a second: who is up, what the monitor sees, and a selector's sample."""
        now = self.now()
        up = [worker.ready for worker in self._master.workers]
        self.simulation.core.functions["ready"] = up
        inflight = float(self.simulation.core.world[0]["inflight"])
        self.samples.append((now, inflight, float(self.monitor.cpu.sum()), float(sum(up))))
        if self._select is not None:
            self._select.tick()
        heapq.heappush(self._heap, (math.floor(now / STEP + 1e-6) * STEP + STEP, _TICK, 0))
        self._progress(now)


def prepare(simulation: Simulation) -> None:
    """Compile what is asked in real time, on a copy of the state."""
    copy: Any = simulation.branch()
    choice = route_next(copy.core, copy.columns, copy.route_mind, simulation.route.compiled)
    copy.columns.streams[0]["worker"] = max(choice, 0)
    stream_over(copy.core, copy.columns, 0)
