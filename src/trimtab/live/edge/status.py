"""A run under way, in the words of the gateway's interface: sites are servers, variants are functions.

The scheduler's thread closes a row a second; whoever asks over HTTP only reads, so a run is not held up.
"""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.control.selecting import SelectLoop
from trimtab.live.edge.master import Master
from trimtab.live.edge.scheduler import Decision, Scheduler
from trimtab.sim import records

_PAGE = os.sysconf("SC_PAGE_SIZE")
_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


class Status:
    """What there is to see of a run."""

    def __init__(self, scheduler: Scheduler, master: Master, select: SelectLoop | None) -> None:
        self._scheduler, self._master, self._select = scheduler, master, select
        self._simulation = simulation = scheduler.simulation
        self._began = time.time()
        self._rows: list[dict[str, Any]] = []
        self._cpu = np.zeros(len(master.workers))
        self._use = np.zeros(len(master.workers))
        """Cores that each worker used in the last row."""
        sites, names = zip(*(row.name.split("/", 1) for row in simulation.deployed), strict=True)
        self._sites = np.array(sites)
        self._variants = np.array([name.partition("#")[0] for name in names])

    def tick(self) -> None:
        """Another second of the run is over."""
        now, results = self._scheduler.now(), self._simulation.core.results
        before = self._rows[-1]["at"] if self._rows else 0.0
        elapsed = max(now - before, 1e-3)
        fresh = (results["status"] == records.COMPLETED) & (results["completion"] > before)
        failed = int(np.isin(results["status"], (records.FAILED, records.REJECTED)).sum())
        used = self._scheduler.monitor.cpu.copy()
        self._use, self._cpu = (used - self._cpu) / elapsed, used
        found = _quantiles(self._times()[fresh])
        self._rows.append(
            {"at": now, "inflight": int(self._simulation.core.world[0]["inflight"]), "rate": int(fresh.sum()) / elapsed,
             "lost": failed, "failed": failed - (self._rows[-1]["lost"] if self._rows else 0), "cold": 0,
             "p50": found["p50"], "p95": found["p95"],
             "cpu": {site: self._load(site) for site in dict.fromkeys(self._sites.tolist())}}
        )  # fmt: skip

    def _times(self) -> npt.NDArray[np.float64]:
        return self._simulation.core.results["completion"] - self._simulation.workload.arrival

    def _load(self, site: str) -> float:
        """Use of a site's cores, 0 to 1."""
        return min(float(self._use[self._sites == site].sum()) / self._cores(site), 1.0)

    def _cores(self, site: str) -> float:
        return sum(group.count * group.cores for group in self._simulation.scenario.hosts if group.site == site)

    def state(self) -> dict[str, Any]:
        """``GET /v1/state``."""
        now = self._scheduler.now()
        return {
            "time": time.time(),
            "uptime_s": 0.0 if math.isnan(now) else now,
            "scenario": self._simulation.scenario.name,
            "policies": {
                "route": self._simulation.route.name,
                "select": None if self._select is None else self._select.selection.selector.name,
            },
            "shadow": None,
            "guards": {} if self._select is None else dict(self._select.guard.events),
            "isolation": {"workers": "a process each, without limits", "sites": "emulated delays"},
            "servers": [self._site(name) for name in dict.fromkeys(self._sites.tolist())],
            "functions": [self._variant(name) for name in dict.fromkeys(self._variants.tolist())],
        }

    def _site(self, name: str) -> dict[str, Any]:
        mine = np.flatnonzero(self._sites == name).tolist()
        rows = self._simulation.core.functions[mine]
        workers = [self._worker(index) for index in mine]
        hosts = [group for group in self._simulation.scenario.hosts if group.site == name]
        return {
            "name": name, "alive": any(self._master.workers[index].ready for index in mine),
            "cores": self._cores(name), "memory_bytes": sum(group.count * group.memory for group in hosts),
            "cpu": self._load(name), "cpu_seconds": float(self._cpu[mine].sum()),
            "memory_used": sum(each["memory_bytes"] for each in workers), "inflight": int(rows["inflight"].sum()),
            "queued": sum(self._waiting(index) for index in mine),
            "metrics": {"streams": int(rows["streams"].sum()), "load": float(rows["load"].sum())},
            "instances": workers,
        }  # fmt: skip

    def _worker(self, index: int) -> dict[str, Any]:
        worker = self._master.workers[index]
        busy = self._scheduler.unanswered(index) > 0
        return {
            "id": self._simulation.deployed[index].name, "function": str(self._variants[index]),
            "state": "starting" if not worker.ready else "busy" if busy else "idle", "pid": worker.process.pid,
            "cpu": float(self._use[index]), "cpu_seconds": float(self._cpu[index]),
            "memory_bytes": _resident(worker.process.pid),
        }  # fmt: skip

    def _waiting(self, index: int) -> int:
        """Queries that a worker has beyond those of its batch."""
        return max(self._scheduler.unanswered(index) - int(self._simulation.core.functions[index]["batch"]), 0)

    def _variant(self, name: str) -> dict[str, Any]:
        mine = np.flatnonzero(self._variants == name)
        rows, results = self._simulation.core.functions[mine], self._simulation.core.results
        asked = np.isin(results["worker"], mine)
        done = asked & (results["status"] == records.COMPLETED)
        return {
            "name": name, "instances": len(mine),
            "ready": sum(self._master.workers[index].ready for index in mine.tolist()),
            "inflight": int(rows["inflight"].sum()), "queued": sum(self._waiting(index) for index in mine.tolist()),
            "arrivals": int(rows["arrivals"].sum()), "completions": int(rows["completions"].sum()),
            "failures": int((asked & (results["status"] == records.FAILED)).sum()), "cold_starts": 0,
            "latency": _quantiles(self._times()[done]) if done.any() else None,
        }  # fmt: skip

    def history(self, seconds: float) -> dict[str, Any]:
        """``GET /v1/history``."""
        rows = [row for row in self._rows if row["at"] >= self._scheduler.now() - seconds]
        columns: dict[str, Any] = {
            name: [row[name] for row in rows] for name in ("inflight", "rate", "failed", "p50", "p95", "cold")
        }
        sites = dict.fromkeys(self._sites.tolist())
        return columns | {
            "time": [self._began + row["at"] for row in rows],
            "cpu": {site: [row["cpu"][site] for row in rows] for site in sites},
            "bands": [[self._began + since, f"route/{policy}"] for since, policy in self._bands()],
        }

    def _bands(self) -> list[tuple[float, str]]:
        return [(0.0, self._simulation.route.name)] if self._select is None else list(self._select.bands)

    def decisions(self, after: int, limit: int) -> list[dict[str, Any]]:
        """``GET /v1/decisions``: those with a higher number, oldest first; without one to begin at, the latest."""
        taken = self._scheduler.decisions
        first, last = (after, after + limit) if after > 0 else (max(len(taken) - limit, 0), None)
        return [self._decision(first + index + 1, each) for index, each in enumerate(taken[first:last])]

    def _decision(self, number: int, taken: Decision) -> dict[str, Any]:
        application = int(self._simulation.columns.streams[taken.stream]["application"])
        chosen = None if taken.worker < 0 else self._simulation.deployed[taken.worker].name
        return {
            "id": number, "time": self._began + taken.time, "kind": "route",
            "function": self._simulation.scenario.applications[application].name, "policy": taken.policy,
            "chosen": chosen, "candidates": [], "scores": None, "microseconds": round(taken.seconds * 1e6, 2),
            "guard": None, "shadow": None,
        }  # fmt: skip


def _quantiles(times: npt.NDArray[np.float64]) -> dict[str, float | None]:
    return {name: float(np.quantile(times, share)) if len(times) else None for name, share in _QUANTILES.items()}


def _resident(process: int) -> int:
    """Bytes of memory that a process has; none where it has gone."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
