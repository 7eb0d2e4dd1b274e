"""What a scale policy sees of a function on a real platform: the gateway's state, and the client's own log."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.live.load.log import Floats, Log
from trimtab.policies.scale.contract import FunctionMetrics
from trimtab.scenario.model import Function
from trimtab.sim.outcome import COMPLETED

_SHARES = (0.5, 0.95, 0.99)


class Observer:
    """Metrics of one function; figures cover the time since the last look."""

    def __init__(self, function: Function, index: int) -> None:
        self._function, self._index = function, index
        self._time = 0.0
        self._cpu: dict[Any, float] = {}
        self._limit = function.cpu if function.cpu is not None else 1.0
        self.instance_seconds = self.core_seconds = self.span = 0.0
        """Integrals over the episode, as far as looks tell, and its length."""

    def resized(self, cpu: float | None) -> None:
        """An instance may use so many cores from now on."""
        self._limit = self._limit if cpu is None else cpu

    def look(self, state: dict[str, Any], log: Log, now: float) -> FunctionMetrics:
        """Metrics at ``now``, in seconds since the start of the replay."""
        function, window = self._function, now - self._time
        instances = [
            each for server in state["servers"] for each in server["instances"] if each["function"] == function.name
        ]
        rows = log.plan.workload.function == self._index
        arrival = log.plan.workload.arrival[rows]
        ended = np.where(np.isfinite(log.ended[rows]), log.ended[rows], np.inf)
        fresh = (ended > self._time) & (ended <= now)
        latency, answered = ended - arrival, log.outcomes[rows] == COMPLETED
        late = latency > (function.deadline if function.deadline is not None else np.inf)
        p50, p95, p99 = _quantiles(latency[fresh & answered])
        entry: dict[str, Any] = next((each for each in state["functions"] if each["name"] == function.name), {})
        metrics = FunctionMetrics(
            name=function.name,
            window=window,
            arrivals=int(np.sum((arrival > self._time) & (arrival <= now))),
            completions=int(np.sum(fresh & answered)),
            violations=int(np.sum(fresh & (~answered | late))),
            inflight=overlap(arrival, ended, self._time, now) / window if window > 0 else 0.0,
            inflight_now=int(np.sum((arrival <= now) & (ended > now))),
            queued=int(entry.get("queued", 0)),
            ready=sum(each["state"] != "starting" for each in instances),
            starting=sum(each["state"] == "starting" for each in instances),
            cpu_cores=self._cores(instances, window),
            memory_bytes=float(sum(each["memory_bytes"] for each in instances)),
            cpu_limit=self._limit,
            memory_limit=function.memory,
            concurrency=function.concurrency,
            start_up=function.create + function.init + function.init_off_cpu,
            service_mean=_mean(log.run[rows][fresh & answered]) or _mean(log.run[rows][answered]),
            latency_p50=p50,
            latency_p95=p95,
            latency_p99=p99,
            slo=function.deadline,
        )
        self.instance_seconds += window * len(instances)
        self.core_seconds += window * len(instances) * self._limit
        self._time = self.span = now
        return metrics

    def _cores(self, instances: list[dict[str, Any]], window: float) -> float:
        """Cores in use: what the counters of instances grew by; one that is new began at nothing."""
        counters = {each["id"]: float(each["cpu_seconds"]) for each in instances}
        used = sum(max(value - self._cpu.get(each, 0.0), 0.0) for each, value in counters.items())
        self._cpu = counters
        return used / window if window > 0 else 0.0


def overlap(begin: Floats, end: Floats, low: float, high: float) -> float:
    """Seconds of all intervals that lie within one. Worked example: [1, 3] and [2, inf] within [0, 4]: 2 + 2."""
    return float(np.maximum(np.minimum(end, high) - np.maximum(begin, low), 0.0).sum())


def _quantiles(values: Floats) -> list[float | None]:
    return [None] * len(_SHARES) if len(values) == 0 else np.quantile(values, _SHARES).tolist()


def _mean(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None
