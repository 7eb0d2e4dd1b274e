"""What is sent and when: the arrivals of a scenario, with the body of each call."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.workload.sizes import as_called
from trimtab.workload.table import Floats, Workload


@dataclass(frozen=True)
class Plan:
    """Calls in order of their time."""

    workload: Workload
    """Arrivals and functions, with the work that the calls really are."""
    bodies: tuple[bytes, ...]
    """JSON of the arguments, one a call."""

    def __len__(self) -> int:
        return len(self.workload)


def plan_of(scenario: Scenario, workload: Workload) -> Plan:
    """A call for each request of the workload."""
    called, sizes = as_called(scenario, workload)
    arguments = [dict(function.code.args) if function.code else {} for function in scenario.functions]
    names = [function.code.size if function.code else None for function in scenario.functions]
    constant = [_body(each) for each in arguments] or [b"{}"] * len(workload.functions)
    bodies = []
    for function, size in zip(called.function.tolist(), sizes.tolist(), strict=True):
        if math.isnan(size):
            bodies.append(constant[function])
        else:
            bodies.append(_body({**arguments[function], str(names[function]): int(size)}))
    return Plan(called, tuple(bodies))


def paced(workload: Workload, seconds: float | None, rate_scale: float) -> Workload:
    """The workload at ``rate_scale`` times its rate, and its first ``seconds`` only."""
    arrival, duration = workload.arrival / rate_scale, workload.duration / rate_scale
    warm_up = workload.warm_up / rate_scale
    if seconds is None:
        return replace(workload, arrival=arrival, duration=duration, warm_up=warm_up)
    if warm_up >= seconds:
        raise TrimtabError(f"--seconds = {seconds:g}, must be above the warm-up of {warm_up:g} s")
    kept = int(np.searchsorted(arrival, seconds))
    if kept == 0:
        raise TrimtabError(f"--seconds = {seconds:g}, no request comes that early, must be above {arrival[0]:.3g}")
    return replace(
        workload, arrival=arrival[:kept], duration=min(seconds, duration), warm_up=warm_up,
        function=workload.function[:kept], work=workload.work[:kept], off_cpu=_first(workload.off_cpu, kept),
        stream=workload.stream[:kept], source=workload.source[:kept], noise=_first(workload.noise, 3 * kept),
    )  # fmt: skip


def _first(column: Floats, count: int) -> Floats:
    return column[:count] if len(column) else column


def _body(arguments: dict[str, object]) -> bytes:
    return json.dumps(arguments, separators=(",", ":")).encode()
