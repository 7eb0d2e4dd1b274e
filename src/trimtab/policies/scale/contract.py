"""What a scale policy sees and answers. Pure: the clock is passed in, state goes in and comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class FunctionMetrics:
    """What is known of one function at a control tick; figures cover the ``window`` since the last one."""

    name: str
    window: float
    """Seconds that the averages below cover."""
    arrivals: int
    completions: int
    violations: int
    """Requests of this window that missed the deadline, failed or were rejected."""
    inflight: float
    """Time average over the window of requests accepted and not yet answered (queued ones included)."""
    inflight_now: int
    queued: int
    """Requests waiting for an instance right now."""
    ready: int
    """Instances that can serve right now."""
    starting: int
    """Instances on their way up."""
    cpu_cores: float
    """Cores in use by all instances of the function together, averaged over the window."""
    memory_bytes: float
    """Memory in use by all instances of the function together, right now."""
    cpu_limit: float
    """Cores one instance may use (its request and its limit)."""
    memory_limit: float
    """Bytes one instance may use."""
    concurrency: int
    """Requests that one instance serves at the same time."""
    start_up: float
    """Seconds that a new instance needs until it can serve."""
    service_mean: float | None
    """Mean seconds of execution of one request (no queueing), seen so far; None before the first."""
    latency_p50: float | None
    latency_p95: float | None
    latency_p99: float | None
    """Latency quantiles of the requests answered in the window; None when there were none."""
    slo: float | None
    """The deadline of a request, in seconds."""
    age: float = 0.0
    """How stale these figures are, in seconds."""

    @property
    def arrival_rate(self) -> float:
        """Requests per second over the window."""
        return self.arrivals / self.window if self.window > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Desired:
    """The answer for one function; None leaves a thing as it is."""

    instances: int | None = None
    cpu: float | None = None
    """Cores of one instance."""
    memory: float | None = None
    """Bytes of one instance."""
    valid: bool = True
    """False: there was no data to decide on, hold."""
    reason: str = ""


HOLD = Desired(valid=False, reason="no data")


@dataclass(frozen=True, slots=True)
class Knob:
    """The one parameter that trades cost against violations, and the values that ``frontier`` tries."""

    name: str
    values: tuple[float, ...]


class ScalePolicy(Protocol):
    """A scale policy: parameters are frozen fields, all memory of the past is in ``state``."""

    @property
    def name(self) -> str:
        """Its fixed name."""

    @property
    def period(self) -> float:
        """Seconds between decisions."""

    @property
    def knob(self) -> Knob | None:
        """What ``trimtab frontier`` sweeps; None if there is nothing to sweep."""

    def decide(self, metrics: FunctionMetrics, state: Any, now: float) -> tuple[Desired, Any]:
        """Decide for one function. ``state`` is None at the first call."""
