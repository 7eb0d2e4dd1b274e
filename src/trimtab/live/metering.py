"""What the platform measures of itself: samples of its servers, and the snapshot that every policy sees."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trimtab.live.servers import Server
from trimtab.policies.place.metrics import FEATURES
from trimtab.sim.records import READY

if TYPE_CHECKING:
    from trimtab.live.platform import Platform

_MIB = 2.0**20
_OF_REQUEST = ("requested_memory", "init_time")
"""Metrics that belong to a call, not to a server."""


@dataclass
class Sampled:
    """The last sample of a server."""

    time: float
    cpu_seconds: float
    cores: float = 0.0
    memory: int = 0
    received: int = 0
    sent: int = 0
    """Bytes of calls and results since the last sample."""
    metrics: dict[str, float] | None = None
    network: tuple[float, float] = (0.0, 0.0)


class Metering:
    """Reads what servers report."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self._last: dict[str, Sampled] = {}

    def traffic(self, server: Server, received: int, sent: int) -> None:
        """Bytes that went to a server and came from it."""
        found = self._last.get(server.name)
        if found is not None:
            found.received += received
            found.sent += sent

    def sample(self, server: Server, message: dict[str, Any]) -> None:
        """A server's monitor has looked."""
        now = self.platform.clock()
        before = self._last.get(server.name) or Sampled(now - 0.1, message["cpu"])
        elapsed = max(now - before.time, 1e-3)
        cores = max(message["cpu"] - before.cpu_seconds, 0.0) / elapsed
        network = before.received / elapsed, before.sent / elapsed
        metrics = message["metrics"] or before.metrics or {}
        self._last[server.name] = Sampled(
            now, message["cpu"], cores, message["memory"], metrics=metrics, network=network
        )
        for number, (cpu, memory) in message["instances"].items():
            instance = server.instances.get(int(number))
            if instance is not None:
                instance.cpu = max(cpu - instance.cpu_seconds, 0.0) / elapsed if instance.cpu_seconds else 0.0
                instance.cpu_seconds, instance.memory_bytes = cpu, memory
        disk = metrics.get("disk_read", 0.0)
        self.platform.placer.board.sample(server, cores, message["memory"], disk, network[0], elapsed)
        self.platform.placer.sampled[server.index] = now

    def tick(self) -> None:
        """Several times a second."""
        platform = self.platform
        inflight = sum(function.inflight for function in platform.functions.values())
        platform.history.tick(platform.servers, self.cpu(), inflight, platform.latency)

    def cpu(self) -> dict[str, float]:
        """Use of each server's cores, 0 to 1."""
        return {
            server.name: min(self._last[server.name].cores / server.cores, 1.0) if server.name in self._last else 0.0
            for server in self.platform.servers
        }

    def server(self, server: Server) -> dict[str, Any]:
        """One server of ``GET /v1/state``."""
        found = self._last.get(server.name) or Sampled(0.0, 0.0)
        return {
            "name": server.name, "alive": server.alive, "cores": server.cores, "memory_bytes": server.memory,
            "cpu": self.cpu()[server.name], "cpu_seconds": found.cpu_seconds,
            "memory_used": found.memory, "memory_reserved": server.memory_used,
            "inflight": len(server.calls), "queued": len(server.queue), "metrics": self._metrics(server, found),
            "instances": [each.describe() for each in server.instances.values()],
        }  # fmt: skip

    def _metrics(self, server: Server, found: Sampled) -> dict[str, float | None]:
        """FaaSRank's 26, by name; null for the two that belong to a call."""
        own: dict[str, float | None] = dict.fromkeys(FEATURES, 0.0)
        own.update({name: value for name, value in (found.metrics or {}).items() if name in own})
        host = self.platform.placer.board.core.hosts[server.index]
        own["cpu_load_avg"] = float(host["load_average"])
        own["net_byte_recv"], own["net_byte_sent"] = found.network
        own["avail_memory"] = (server.memory - sum(each.function.memory for each in server.calls.values())) / _MIB
        own["inflight_invocations"] = float(len(server.calls))
        own["warm_infrastructures"] = float(sum(each.idle for each in server.instances.values()))
        return own | dict.fromkeys(_OF_REQUEST)

    def deciders(self) -> dict[str, Any]:
        """Who decides, and who in their shadow."""
        platform = self.platform
        shadow, scale_shadow = platform.placer.shadow, platform.scaling.shadow
        return {
            "policies": {
                "place": platform.placer.seat.policy.name,
                "scale": platform.scaling.name,
                "select": platform.selecting.name,
            },
            "shadow": None if shadow is None else shadow.describe(),
            "scale_shadow": None if scale_shadow is None else scale_shadow.describe(),
        }

    def state(self) -> dict[str, Any]:
        """``GET /v1/state``."""
        platform = self.platform
        return {
            "time": time.time(),
            "uptime_s": platform.clock(),
            "scenario": platform.scenario.name,
            **self.deciders(),
            "guards": dict(platform.placer.events + platform.scaling.events + platform.selecting.events),
            "isolation": platform.settings.isolation.describe(platform.settings.group),
            "servers": [self.server(server) for server in platform.servers],
            "functions": self._functions(),
        }

    def _functions(self) -> list[dict[str, Any]]:
        return [
            {
                "name": each.name, "instances": len(each.instances),
                "ready": sum(instance.state == READY for instance in each.instances.values()),
                "inflight": each.inflight,
                "queued": len(each.queue) + sum(
                    call.function is each for server in self.platform.servers for call in server.queue),
                "arrivals": each.counters.arrivals, "completions": each.counters.completions,
                "failures": each.counters.failures, "cold_starts": each.counters.cold_starts,
                "latency": each.latency.quantiles(),
            }
            for each in self.platform.functions.values()
        ]  # fmt: skip
