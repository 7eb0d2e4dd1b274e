"""``/metrics``: what Prometheus scrapes, read from the platform's own counters when it asks."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from trimtab.live.platform import Platform


class PlatformCollector(Collector):
    """Metrics by function and by server."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform

    def collect(self) -> Iterator[Metric]:
        """Called for every scrape."""
        yield from self._functions()
        yield from self._servers()
        guards = CounterMetricFamily("trimtab_guard_events", "Times that a guard stepped in", labels=["reason"])
        platform = self.platform
        for reason, count in (platform.placer.events + platform.scaling.events + platform.selecting.events).items():
            guards.add_metric([reason], count)
        yield guards

    def _functions(self) -> Iterator[Metric]:
        counted = {
            "arrivals": "Calls", "completions": "Calls answered", "failures": "Calls failed",
            "cold_starts": "Calls that started an instance",
        }  # fmt: skip
        for name, text in counted.items():
            family = CounterMetricFamily(f"trimtab_function_{name}", text, labels=["function"])
            for function in self.platform.functions.values():
                family.add_metric([function.name], getattr(function.counters, name))
            yield family
        latency = GaugeMetricFamily(
            "trimtab_function_latency_seconds", "Of the last calls", labels=["function", "quantile"]
        )
        inflight = GaugeMetricFamily("trimtab_function_inflight", "Calls in flight", labels=["function"])
        instances = GaugeMetricFamily("trimtab_function_instances", "Instances", labels=["function"])
        for function in self.platform.functions.values():
            inflight.add_metric([function.name], function.inflight)
            instances.add_metric([function.name], len(function.instances))
            for quantile, value in (function.latency.quantiles() or {}).items():
                latency.add_metric([function.name, f"0.{quantile[1:]}"], value)
        yield from (latency, inflight, instances)

    def _servers(self) -> Iterator[Metric]:
        cpu = GaugeMetricFamily("trimtab_server_cpu", "Share of its cores in use", labels=["server"])
        calls = GaugeMetricFamily("trimtab_server_inflight", "Calls on it", labels=["server"])
        queued = GaugeMetricFamily("trimtab_server_queued", "Calls waiting on it", labels=["server"])
        alive = GaugeMetricFamily("trimtab_server_up", "Whether it is up", labels=["server"])
        use = self.platform.metering.cpu()
        for server in self.platform.servers:
            cpu.add_metric([server.name], use[server.name])
            calls.add_metric([server.name], len(server.calls))
            queued.add_metric([server.name], len(server.queue))
            alive.add_metric([server.name], float(server.alive))
        yield from (cpu, calls, queued, alive)


def expose(platform: Platform) -> bytes:
    """The text of one scrape."""
    registry = CollectorRegistry()
    registry.register(PlatformCollector(platform))
    return generate_latest(registry)
