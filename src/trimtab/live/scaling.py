"""How much is up: a scale policy decides every period on what was measured, and the pool carries it out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trimtab.control.guards import ScaleGuard
from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed
from trimtab.policies import registry
from trimtab.policies.scale.contract import FunctionMetrics
from trimtab.sim.records import READY, STARTING

if TYPE_CHECKING:
    from trimtab.live.platform import Platform


class _Window:
    """What was counted of a function up to the last decision."""

    def __init__(self, function: Deployed) -> None:
        counters = function.counters
        self.arrivals, self.completions, self.violations = (
            counters.arrivals, counters.completions, counters.violations,
        )  # fmt: skip
        self.cpu_seconds = sum(each.cpu_seconds for each in function.instances.values())
        self.inflight_seconds = 0.0


class Scaling:
    """The loop around a scale policy; without one, instances come and go on demand."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.events: Counter[str] = Counter()
        self._guard: ScaleGuard | None = None
        self._states: dict[str, Any] = {}
        self._windows: dict[str, _Window] = {}
        self._due = self._looked = self._ticked = 0.0

    @property
    def name(self) -> str | None:
        """The policy that decides."""
        return None if self._guard is None else self._guard.policy.name

    def switch(self, name: str | None) -> None:
        """From now on this policy decides; None: nobody does."""
        control, scenario = self.platform.scenario.control, self.platform.scenario
        self._states, self._windows = {}, {}
        if name is None:
            self._guard = None
            return
        policy = registry.load("scale", name, dict(scenario.parameters.get(name, {})) or None, scenario.name)
        self._guard = ScaleGuard(
            policy, control.minimum, control.maximum, control.cpu_minimum, control.cpu_maximum, events=self.events
        )
        self._looked = self._ticked = self.platform.clock()
        self._due = self._looked + self._period()

    def _period(self) -> float:
        assert self._guard is not None
        return float(self.platform.scenario.control.period or self._guard.policy.period)

    async def tick(self) -> None:
        """Several times a second: count what is in flight, and decide when it is time."""
        guard = self._guard
        if guard is None:
            return
        now = self.platform.clock()
        for function in self.platform.functions.values():
            window = self._windows.setdefault(function.name, _Window(function))
            window.inflight_seconds += function.inflight * (now - self._ticked)
        self._ticked = now
        if now >= self._due:
            self._due = max(self._due + self._period(), now)
            elapsed, self._looked = now - self._looked, now
            for function in list(self.platform.functions.values()):
                if self._guard is guard:  # whoever switched it while a resize was waited for
                    await self._decide(guard, function, elapsed, now)

    async def _decide(self, guard: ScaleGuard, function: Deployed, elapsed: float, now: float) -> None:
        metrics = self._metrics(function, elapsed)
        before = self.events.total()
        began = time.perf_counter()
        desired, self._states[function.name] = guard.decide(metrics, self._states.get(function.name), now)
        seconds = time.perf_counter() - began
        stepped_in = desired.reason if self.events.total() > before else None
        self._windows[function.name] = _Window(function)
        if desired.valid:
            if desired.cpu is not None or desired.memory is not None:
                try:
                    await self.platform.resize(function, desired.cpu, desired.memory)
                except CallFailed:
                    self.events["size refused by the kernel"] += 1
            if desired.instances is not None:
                self.platform.pool.scale(function, desired.instances)
        chosen = {"instances": desired.instances, "cpu": desired.cpu, "memory": desired.memory}
        self.platform.audit.note(
            "scale", function.name, guard.policy.name, chosen if desired.valid else None, [], None, seconds, stepped_in
        )

    def _metrics(self, function: Deployed, elapsed: float) -> FunctionMetrics:
        window = self._windows.setdefault(function.name, _Window(function))
        counters, instances = function.counters, function.instances.values()
        quantiles: Mapping[str, float | None] = function.latency.since() or dict.fromkeys(("p50", "p95", "p99"))
        used = max(sum(each.cpu_seconds for each in instances) - window.cpu_seconds, 0.0)
        figures = function.figures
        return FunctionMetrics(
            name=function.name,
            window=elapsed,
            arrivals=counters.arrivals - window.arrivals,
            completions=counters.completions - window.completions,
            violations=counters.violations - window.violations,
            inflight=window.inflight_seconds / elapsed if elapsed > 0 else function.inflight,
            inflight_now=function.inflight,
            queued=len(function.queue),
            ready=sum(each.state == READY for each in instances),
            starting=sum(each.state == STARTING for each in instances),
            cpu_cores=used / elapsed if elapsed > 0 else 0.0,
            memory_bytes=float(sum(each.memory_bytes for each in instances)),
            cpu_limit=function.cpu or 1.0,
            memory_limit=function.memory,
            concurrency=function.spec.concurrency,
            start_up=figures.create + figures.init + figures.init_off_cpu,
            service_mean=function.latency.mean_execution,
            latency_p50=quantiles["p50"],
            latency_p95=quantiles["p95"],
            latency_p99=quantiles["p99"],
            slo=figures.deadline,
        )
