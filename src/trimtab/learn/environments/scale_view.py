"""Metrics of functions as numbers for a network: counts as logarithms, times in control periods or deadlines."""

from __future__ import annotations

from math import log1p

import numpy as np
import numpy.typing as npt

from trimtab.policies.scale.contract import FunctionMetrics

FEATURES = (
    "arrival_rate", "completion_rate", "violation_share", "inflight", "inflight_now", "queued", "ready", "starting",
    "cpu_utilisation", "cpu_limit", "memory_utilisation", "memory_limit", "concurrency", "start_up", "service_mean",
    "latency_p50", "latency_p95", "latency_p99", "slo", "age", "has_service_mean", "has_latency", "has_slo",
)  # fmt: skip
"""Columns of a row, one row a function. Rates (a second), counts, cores and GiB are log(1 + x); ``start_up`` and
``age`` are in control periods; service and latencies are in deadlines, or in seconds without one; what is
unknown is 0, and its ``has_`` column says so."""
LIMIT = 100.0
"""Nothing is larger."""
_GIB = 2.0**30


def features_of(seen: list[FunctionMetrics], period: float) -> npt.NDArray[np.float32]:
    """One row a function."""
    rows = [_row(each, period) for each in seen]
    return np.clip(np.array(rows, np.float32), -LIMIT, LIMIT)


def _row(metrics: FunctionMetrics, period: float) -> list[float]:
    window = max(metrics.window, 1e-9)
    up = max(metrics.ready, 1)
    unit = metrics.slo or 1.0
    ended = max(metrics.completions, metrics.violations, 1)
    times = (metrics.service_mean, metrics.latency_p50, metrics.latency_p95, metrics.latency_p99)
    return [
        log1p(metrics.arrivals / window), log1p(metrics.completions / window), metrics.violations / ended,
        log1p(metrics.inflight), log1p(metrics.inflight_now), log1p(metrics.queued), log1p(metrics.ready),
        log1p(metrics.starting), metrics.cpu_cores / (metrics.cpu_limit * up), log1p(metrics.cpu_limit),
        metrics.memory_bytes / (metrics.memory_limit * up), log1p(metrics.memory_limit / _GIB),
        log1p(metrics.concurrency), metrics.start_up / period, *((each or 0.0) / unit for each in times),
        log1p(metrics.slo or 0.0), metrics.age / period, float(metrics.service_mean is not None),
        float(metrics.latency_p99 is not None), float(metrics.slo is not None),
    ]  # fmt: skip
