"""How much is up: a scale policy decides every period on what was measured, and the pool carries it out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trimtab.control.guards import ScaleGuard
from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed
from trimtab.live.scale_shadow import ScaleShadow, instances_of
from trimtab.live.sizing import resize
from trimtab.policies import registry
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics
from trimtab.sim.records import READY, STARTING

if TYPE_CHECKING:
    from trimtab.live.platform import Platform


class _Window:
    """What was counted of a function up to the last decision."""

    def __init__(self, function: Deployed) -> None:
        counters = function.counters
        self.number = function.number
        self.arrivals, self.completions, self.violations = (
            counters.arrivals, counters.completions, counters.violations,
        )  # fmt: skip
        self.cpu_seconds = function.cpu_seconds
        self.inflight_seconds = 0.0


class Scaling:
    """The loop around a scale policy; without one, instances come and go on demand."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.events: Counter[str] = Counter()
        self.shadow: ScaleShadow | None = None
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
        self._guard = None if name is None else self._guarded(name, self.events)
        self._states = {}
        self._begin()

    def set_shadow(self, name: str | None) -> None:
        """A second policy that decides without acting; None: no more."""
        # its guard counts for itself: what it would have prevented did not happen
        self.shadow = None if name is None else ScaleShadow(self._guarded(name, Counter()))
        if self._guard is None:
            self._begin()

    def _guarded(self, name: str, events: Counter[str]) -> ScaleGuard:
        scenario = self.platform.scenario
        control = scenario.control
        policy = registry.load("scale", name, dict(scenario.parameters.get(name, {})) or None, scenario.name)
        return ScaleGuard(
            policy, control.minimum, control.maximum, control.cpu_minimum, control.cpu_maximum, events=events
        )

    def _begin(self) -> None:
        """A first window, whose end is the first decision."""
        self._windows = {}
        self._looked = self._ticked = self.platform.clock()
        self._due = self._looked + self._period()

    def _period(self) -> float:
        guard = self._guard or (self.shadow.guard if self.shadow is not None else None)
        own = guard.policy.period if guard is not None else 0.0
        return float(self.platform.scenario.control.period or own)

    async def tick(self) -> None:
        """Several times a second: count what is in flight, and decide when it is time."""
        guard, shadow = self._guard, self.shadow
        if guard is None and shadow is None:
            return
        now = self.platform.clock()
        for function in self.platform.functions.values():
            self._window(function).inflight_seconds += function.inflight * (now - self._ticked)
        self._ticked = now
        if now >= self._due:
            self._due = max(self._due + self._period(), now)
            elapsed, self._looked = now - self._looked, now
            for function in list(self.platform.functions.values()):
                # whoever switched or removed it while a resize was waited for
                if self._guard is guard and not function.removed:
                    await self._decide(guard, function, elapsed, now)

    def _window(self, function: Deployed) -> _Window:
        """What was counted of this version: another one counts from 0 again."""
        found = self._windows.get(function.name)
        if found is None or found.number != function.number:
            found = self._windows[function.name] = _Window(function)
        return found

    async def _decide(self, guard: ScaleGuard | None, function: Deployed, elapsed: float, now: float) -> None:
        metrics = self._metrics(function, elapsed)
        before = self.events.total()
        began = time.perf_counter()
        desired = HOLD
        if guard is not None:
            desired, self._states[function.name] = guard.decide(metrics, self._states.get(function.name), now)
        seconds = time.perf_counter() - began
        stepped_in = desired.reason if self.events.total() > before else None
        self._windows[function.name] = _Window(function)
        current = instances_of(desired, metrics)
        shadow = None if self.shadow is None else self.shadow.decide(metrics, current, now)
        chosen = {"instances": desired.instances, "cpu": desired.cpu, "memory": desired.memory}
        if desired.valid:
            await self._carry_out(function, desired)
        elif guard is None:
            chosen = {"instances": current, "cpu": None, "memory": None}
        self.platform.audit.note(
            "scale", function.name, "on demand" if guard is None else guard.policy.name,
            chosen if desired.valid or guard is None else None, [], None, seconds, stepped_in, shadow,
        )  # fmt: skip

    async def _carry_out(self, function: Deployed, desired: Desired) -> None:
        if desired.cpu is not None or desired.memory is not None:
            servers = self.platform.servers
            cpu = None if desired.cpu is None else min(desired.cpu, max(each.cores for each in servers))
            memory = None if desired.memory is None else min(desired.memory, max(each.memory for each in servers))
            try:
                await resize(self.platform, function, cpu, memory)
            except CallFailed:
                self.events["size refused"] += 1
        if desired.instances is not None and not function.removed:
            self.platform.pool.scale(function, desired.instances)

    def _metrics(self, function: Deployed, elapsed: float) -> FunctionMetrics:
        window = self._window(function)
        counters, instances = function.counters, function.instances.values()
        quantiles: Mapping[str, float | None] = function.latency.since() or dict.fromkeys(("p50", "p95", "p99"))
        used = function.cpu_seconds - window.cpu_seconds
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
