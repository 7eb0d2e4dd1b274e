"""What a replay recorded of every call, and that as the outcome of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trimtab.live.load.connection import Call
from trimtab.live.load.plan import Plan
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import COMPLETED, FAILED, REJECTED, Outcome

if TYPE_CHECKING:
    import polars

Floats = npt.NDArray[np.float64]
_REFUSED = (429, 503)
"""Statuses that say: not accepted."""
_SAMPLES = 240


def _blank(count: int) -> Floats:
    return np.full(count, np.nan)


@dataclass
class Log:
    """Columns by call; times in seconds since the start of the replay, not a number where there was none."""

    plan: Plan
    began: float = float("nan")
    """When the replay began, by ``time.monotonic``."""
    sent: Floats = field(init=False)
    ended: Floats = field(init=False)
    wait: Floats = field(init=False)
    """Seconds in the platform's queue, as it says itself."""
    run: Floats = field(init=False)
    """Seconds of execution, as the platform says."""
    status: npt.NDArray[np.int16] = field(init=False)
    """Of HTTP; 0 where there was no answer."""
    cold: npt.NDArray[np.bool_] = field(init=False)
    host: npt.NDArray[np.int32] = field(init=False)
    error: list[str] = field(init=False)
    activation: list[str] = field(init=False)
    hosts: list[str] = field(default_factory=list)
    """Names that ``host`` points into, in the order in which they were first seen."""

    def __post_init__(self) -> None:
        count = len(self.plan)
        self.sent, self.ended, self.wait, self.run = (_blank(count) for _ in range(4))
        self.status, self.cold = np.zeros(count, np.int16), np.zeros(count, bool)
        self.host = np.full(count, -1, np.int32)
        self.error, self.activation = [""] * count, [""] * count

    def add(self, call: Call, start: float) -> None:
        """A call has ended."""
        index, headers = call.index, call.headers
        self.sent[index], self.ended[index] = call.sent - start, call.ended - start
        self.status[index], self.error[index] = call.status, call.error
        if headers:
            self.cold[index] = headers.get(b"x-trimtab-cold") == b"1"
            self.wait[index] = _milliseconds(headers.get(b"x-trimtab-wait-ms"))
            self.run[index] = _milliseconds(headers.get(b"x-trimtab-run-ms"))
            self.activation[index] = headers.get(b"x-trimtab-activation", b"").decode("latin-1")
            if server := headers.get(b"x-trimtab-server", b"").decode("latin-1"):
                self.host[index] = self._host(server)

    def _host(self, name: str) -> int:
        if name not in self.hosts:
            self.hosts.append(name)
        return self.hosts.index(name)

    @property
    def outcomes(self) -> npt.NDArray[np.int8]:
        """Completed, failed or rejected."""
        answered = (self.status >= 200) & (self.status < 300) & (np.array(self.error) == "")
        refused = np.isin(self.status, _REFUSED) | (np.array(self.error) == "connect")
        return np.where(answered, COMPLETED, np.where(refused, REJECTED, FAILED)).astype(np.int8)

    @property
    def errors(self) -> dict[str, int]:
        """How many calls went wrong, by kind: ``timeout``, ``HTTP 500`` and the like."""
        kinds = [
            error or f"HTTP {status}"
            for error, status in zip(self.error, self.status.tolist(), strict=True)
            if error or not 200 <= status < 300
        ]
        return dict(sorted(Counter(kinds).items()))

    def figures(self) -> dict[str, object]:
        """How well the replay itself went: what no simulation has."""
        late = (self.sent - self.plan.workload.arrival)[np.isfinite(self.sent)]
        done = self.outcomes == COMPLETED
        found: dict[str, object] = {"sent": len(late), "errors": self.errors}
        if len(late):
            p50, p99, most = np.quantile(late, [0.5, 0.99, 1.0]).tolist()
            found["sender_late_s"] = {"p50": p50, "p99": p99, "max": most}
        if done.any():
            seconds = (self.ended - self.sent)[done]
            p50, p95, p99 = np.quantile(seconds, [0.5, 0.95, 0.99]).tolist()
            found["from_send_s"] = {"mean": float(seconds.mean()), "p50": p50, "p95": p95, "p99": p99}
        return found

    def frame(self) -> polars.DataFrame:
        """A row a call."""
        import polars

        workload = self.plan.workload
        names = np.array(workload.functions, dtype=object)[workload.function].tolist()
        servers = [self.hosts[host] if host >= 0 else None for host in self.host.tolist()]
        columns = {
            "function": names, "intended_s": workload.arrival, "sent_s": self.sent, "ended_s": self.ended,
            "latency_s": self.ended - workload.arrival, "work_s": workload.work, "wait_s": self.wait,
            "run_s": self.run, "http_status": self.status, "error": self.error, "cold": self.cold,
            "server": polars.Series(servers, dtype=polars.String), "activation": self.activation,
        }  # fmt: skip
        return polars.DataFrame(columns).with_columns(polars.col(polars.Float64).fill_nan(None))

    def outcome(self, scenario: Scenario, label: str, seed: int) -> Outcome:
        """The run as the simulator would tell it; latency counts from the intended time."""
        workload, status = self.plan.workload, self.outcomes
        kept = workload.arrival >= workload.warm_up
        done = kept & (status == COMPLETED)
        completion = np.where(status == COMPLETED, self.ended, np.nan)
        deadline = _deadlines(scenario)[workload.function] if scenario.functions else np.full(len(kept), np.inf)
        start = self.ended - self.run
        span = max(float(np.nanmax(self.ended, initial=0.0)) - workload.warm_up, 1e-9)
        busy = np.where(done, completion - workload.arrival, 0.0).sum()
        return Outcome(
            policy=label, seed=seed, functions=workload.functions, hosts=tuple(self.hosts), workers=(),
            arrival=workload.arrival[kept], function=workload.function[kept], completion=completion[kept],
            start=start[kept], host=self.host[kept], worker=np.full(int(kept.sum()), -1, np.int32),
            cold=self.cold[kept], late=(completion - workload.arrival > deadline)[kept], status=status[kept],
            accurate=np.ones(int(kept.sum()), bool),
            meters={"makespan_s": span, "mean_inflight": float(busy) / span},
            series=self._series(), host_time=np.empty(0), host_utilisation=np.empty((0, 0), np.float32),
            decisions=0, decision_seconds=0.0, wall_seconds=span,
            has_deadline=bool(np.isfinite(deadline).any()), has_streams=False,
        )  # fmt: skip

    def _series(self) -> dict[str, Floats]:
        """Calls under way over time, from their intended time on."""
        time = np.linspace(0.0, max(self.plan.workload.duration, 1e-9), _SAMPLES)
        ends = np.sort(np.where(np.isfinite(self.ended), self.ended, np.inf))
        begun = np.searchsorted(self.plan.workload.arrival, time, side="right")
        return {"time": time, "inflight": (begun - np.searchsorted(ends, time, side="right")).astype(np.float64)}


def _deadlines(scenario: Scenario) -> Floats:
    return np.array([np.inf if each.deadline is None else each.deadline for each in scenario.functions])


def _milliseconds(value: bytes | None) -> float:
    try:
        return float(value) / 1000.0 if value is not None else float("nan")
    except ValueError:
        return float("nan")
