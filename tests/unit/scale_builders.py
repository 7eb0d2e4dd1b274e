"""Metrics of a function for the tests of scale policies: name what matters, the rest is filled in."""

from __future__ import annotations

from typing import Any

from trimtab.policies.scale.contract import FunctionMetrics

QUIET: dict[str, Any] = {
    "name": "function",
    "window": 15.0,
    "arrivals": 0,
    "completions": 0,
    "violations": 0,
    "inflight": 0.0,
    "inflight_now": 0,
    "queued": 0,
    "ready": 1,
    "starting": 0,
    "cpu_cores": 0.0,
    "memory_bytes": 0.0,
    "cpu_limit": 1.0,
    "memory_limit": 512e6,
    "concurrency": 1,
    "start_up": 10.0,
    "service_mean": 0.1,
    "latency_p50": None,
    "latency_p95": None,
    "latency_p99": None,
    "slo": 0.5,
}


def seen(**given: Any) -> FunctionMetrics:
    """A quiet function with one ready instance, changed as ``given``."""
    return FunctionMetrics(**(QUIET | given))
