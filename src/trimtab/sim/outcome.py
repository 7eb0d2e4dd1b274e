"""What one run of one policy on one seed leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

COMPLETED, FAILED, REJECTED = 0, 1, 2
"""Values of ``Outcome.status``."""


@dataclass(frozen=True)
class Outcome:
    """Columns by request (warm-up aside), series over time, and meters over the whole run."""

    policy: str
    seed: int
    functions: tuple[str, ...]
    """Names for ``function`` (for streams: applications)."""
    hosts: tuple[str, ...]
    workers: tuple[str, ...]
    """Names for ``worker`` (deployments), where there are any."""
    arrival: npt.NDArray[np.float64]
    function: npt.NDArray[np.int32]
    completion: npt.NDArray[np.float64]
    """Absolute time of the answer; NaN where there was none."""
    start: npt.NDArray[np.float64]
    """Absolute time at which execution began; NaN where it never did."""
    host: npt.NDArray[np.int32]
    """-1 where a request never had one."""
    worker: npt.NDArray[np.int32]
    cold: npt.NDArray[np.bool_]
    late: npt.NDArray[np.bool_]
    """Answered, but after the deadline."""
    status: npt.NDArray[np.int8]
    accurate: npt.NDArray[np.bool_]
    meters: dict[str, float]
    """cost_usd, energy_kwh, cpu_utilisation, mean_inflight … ; absent where a scenario has none."""
    series: dict[str, npt.NDArray[np.float64]]
    """time, inflight, queued, busy_cores, instances, starting, power_w, cold_starts, hosts_on."""
    host_time: npt.NDArray[np.float64]
    host_utilisation: npt.NDArray[np.float32]
    """(host, sample): mean CPU utilisation between samples; hosts beyond 200 are left out."""
    decisions: int
    decision_seconds: float
    """Wall-clock time of all decisions, estimated; goes to timings.json only."""
    wall_seconds: float
    has_deadline: bool
    has_streams: bool
    bands: list[tuple[float, str]] = field(default_factory=list)
    """(time, policy) changes of a selector."""
    estimates: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    """(time, cost that a selector expected of each candidate), where it says so."""
    notes: list[str] = field(default_factory=list)
    """What a reader must know: decisions that a guard replaced, and why."""

    @property
    def fct(self) -> npt.NDArray[np.float64]:
        """Function completion time in seconds; NaN where there was no answer."""
        return self.completion - self.arrival
