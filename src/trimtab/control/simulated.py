"""The simulator as a platform: what the control loop observes of it, and how it acts on it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from trimtab.policies.assign.contract import HostTable, TaskTable
from trimtab.policies.scale.contract import Desired, FunctionMetrics
from trimtab.scenario.model import Scenario
from trimtab.sim import records
from trimtab.sim.meters import meter_all
from trimtab.sim.simulation import Simulation
from trimtab.sim.state import Records

_BINS = 160
_SHARES = np.array([0.5, 0.95, 0.99])
_FIRST, _RATIO = 1e-4, 1.1


class SimulatedPlatform:
    """Observe and act on a simulation; figures cover the time since the last observation."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self._before = simulation.core.functions.tolist()
        self._time = 0.0
        self._last: list[FunctionMetrics] = []
        self._billed = [0.0] * len(simulation.deployed)
        self.core_seconds = 0.0
        """Instance-seconds times the CPU that an instance had then, up to the last ``bill``."""
        self.resizes = 0

    def bill(self) -> None:
        """Bring ``core_seconds`` up to now; before any size changes."""
        meter_all(self.simulation.core)
        for index, row in enumerate(self.simulation.core.functions[["instance_seconds", "cpu"]].tolist()):
            seconds, cpu = row
            if math.isfinite(cpu):
                self.core_seconds += (seconds - self._billed[index]) * cpu
            self._billed[index] = seconds

    def observe(self) -> list[FunctionMetrics]:
        """Metrics of every function; where metrics are stale, the last ones with their age."""
        now = self.simulation.now
        if self.simulation.core.world[0]["metrics_stale"] and self._last:
            return [replace(each, age=now - self._time) for each in self._last]
        meter_all(self.simulation.core)
        functions, latency = self.simulation.core.functions, self.simulation.core.latency.reshape(-1, _BINS)
        window = now - self._time
        # one copy as plain Python numbers: field access on records costs more than the decision
        after, before = functions.tolist(), self._before
        self._last = [
            self._metrics(index, after[index], before[index], latency[index], window) for index in range(len(functions))
        ]
        self._before = after
        self._time = now
        self.simulation.core.latency[:] = 0
        return self._last

    def _metrics(
        self,
        index: int,
        after: tuple[float, ...],
        before: tuple[float, ...],
        latency: npt.NDArray[np.int64],
        window: float,
    ) -> FunctionMetrics:
        def now(name: str) -> float:
            return after[_PLACE[name]]

        def change(name: str) -> float:
            return after[_PLACE[name]] - before[_PLACE[name]]

        services = change("services")
        memory = now("memory") * (now("ready") + now("draining"))
        p50, p95, p99 = quantiles(latency, _SHARES)
        deadline = now("deadline")
        return FunctionMetrics(
            name=self.simulation.deployed[index].name,
            window=window,
            arrivals=int(change("arrivals")),
            completions=int(change("completions")),
            violations=int(change("violations")),
            inflight=change("inflight_seconds") / window if window > 0 else now("inflight"),
            inflight_now=int(now("inflight")),
            queued=int(now("queued")),
            ready=int(now("ready")),
            starting=int(now("starting")),
            cpu_cores=change("cpu_seconds") / window if window > 0 else 0.0,
            memory_bytes=memory,
            cpu_limit=now("cpu") if math.isfinite(now("cpu")) else 1.0,
            memory_limit=now("memory"),
            concurrency=int(now("concurrency")),
            start_up=now("start_up"),
            service_mean=(
                change("service_seconds") / services if services
                else now("service_seconds") / now("services") if now("services") else None
            ),
            latency_p50=p50,
            latency_p95=p95,
            latency_p99=p99,
            slo=deadline if math.isfinite(deadline) else None,
        )  # fmt: skip

    def act(self, index: int, desired: Desired) -> int:
        """Carry out a scale decision; returns 1 if it changed the number of instances asked for."""
        if not desired.valid:
            return 0
        if desired.cpu is not None or desired.memory is not None:
            self.bill()
            self.resizes += 1
            self.simulation.resize(index, desired.cpu, desired.memory)
        if desired.instances is None:
            return 0
        function = self.simulation.core.functions[index]
        if int(function["ready"] + function["starting"]) == desired.instances:
            return 0
        self.simulation.scale(index, desired.instances)
        return 1

    def tasks(self) -> tuple[npt.NDArray[np.int64], TaskTable, npt.NDArray[np.int32]]:
        """Slots, table and current hosts of the tasks in the system."""
        simulation = self.simulation
        slots = simulation.tasks()
        rows = simulation.core.active[slots]
        done = work_done(simulation, rows)
        expected = np.maximum(rows["work"] - done, 0.1 * rows["work"])
        table = TaskTable(
            request=rows["id"].astype(np.int32),
            function=rows["function"].astype(np.int32),
            age=simulation.now - rows["arrival"],
            remaining=expected,
            cores=np.where(np.isfinite(rows["cap"]), rows["cap"], 1e6),
            memory=np.ascontiguousarray(rows["memory"]),
            deadline=rows["deadline"] - rows["arrival"],
            disk=_disk_rate(simulation, rows),
            movable=_movable(simulation, rows, done),
        )
        return slots, table, rows["host"].astype(np.int32)

    def hosts(self) -> HostTable:
        """The machines as an assign policy sees them."""
        simulation = self.simulation
        hosts = simulation.core.hosts
        return host_table(simulation.scenario, hosts, simulation.delays()[hosts["site"]])


def host_table(scenario: Scenario, hosts: Records, delay: npt.NDArray[np.float64]) -> HostTable:
    """The engine's machines as an assign policy sees them; ``delay`` is from the gateways to each."""
    return HostTable(
        cores=hosts["cores"].copy(),
        speed=hosts["speed"].copy(),
        memory=hosts["memory"].copy(),
        price=hosts["price"].copy(),
        power_idle=hosts["watts0"].copy(),
        power_full=hosts["watts10"].copy(),
        state=hosts["state"].astype(np.int32),
        wake=scenario.platform.wake,
        delay=delay,
        bandwidth=hosts["bandwidth"].copy(),
        disk=hosts["disk"].copy(),
    )


_MOVABLE = (records.UNASSIGNED, records.RUNNING, records.WAITING_FOR_CORE)
"""Phases in which ``sim.tasks.apply_plan`` puts a task elsewhere."""
_PLACE = {name: position for position, name in enumerate(records.FUNCTION.names or ())}


def work_done(simulation: Simulation, rows: npt.NDArray[np.void]) -> npt.NDArray[np.float64]:
    """Core-seconds that each task has behind it."""
    whole = simulation.columns.work[rows["id"]]
    hosts = simulation.core.hosts
    speed = np.where(rows["host"] >= 0, hosts["speed"][np.maximum(rows["host"], 0)], 1.0)
    running = rows["rate"] > 0.0
    left = np.where(running, (rows["finish"] - simulation.now) * rows["rate"] * speed, rows["true_work"])
    done: npt.NDArray[np.float64] = np.maximum(whole - left, 0.0)
    return done


def _movable(
    simulation: Simulation, rows: npt.NDArray[np.void], done: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Whether a plan may put a task elsewhere: not before it has got on where it is.

    A policy that moves a task whenever its host has just woken would otherwise never let it run.
    """
    left = simulation.columns.work[rows["id"]] - done
    stuck = (rows["phase"] == records.RUNNING) & (left >= rows["true_work"] * (1.0 - 1e-12))
    return np.asarray(np.isin(rows["phase"], _MOVABLE) & ~stuck, np.bool_)


def _disk_rate(simulation: Simulation, rows: npt.NDArray[np.void]) -> npt.NDArray[np.float64]:
    """Bytes a second of each task on all its cores: its application reads and writes evenly over its work."""
    functions = simulation.core.functions[rows["function"]]
    cores = np.where(np.isfinite(rows["cap"]), rows["cap"], 1.0)
    rate: npt.NDArray[np.float64] = functions["disk_bytes"] / np.maximum(functions["work"], 1e-9) * cores
    return rate


def quantiles(counts: npt.NDArray[np.int64], shares: npt.NDArray[np.float64]) -> list[float | None]:
    """Quantiles of a latency histogram: the upper end of the bin, within 10 % of the true value."""
    running = counts.cumsum()
    total = int(running[-1])
    if total == 0:
        return [None] * len(shares)
    return [_FIRST * _RATIO**position for position in running.searchsorted(shares * total).tolist()]
