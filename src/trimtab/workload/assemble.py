"""Arrivals and functions into a finished workload: work drawn, columns typed, order checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.scenario.model import Scenario
from trimtab.workload.random_streams import stream
from trimtab.workload.table import Floats, Ints, Workload
from trimtab.workload.work import draw_work, off_cpu_time


def assemble(
    scenario: Scenario,
    arrival: Floats,
    function: Ints,
    duration: float,
    seed: int,
    *,
    work: Floats | None = None,
    notes: tuple[str, ...] = (),
    statistics: dict[str, Any] | None = None,
) -> Workload:
    """A workload whose functions are the scenario's; ``work`` is drawn where the source has none."""
    if work is None:
        work = draw_work(scenario.functions, function, stream(seed, "work"))
    return Workload(
        functions=tuple(one.name for one in scenario.functions),
        arrival=np.ascontiguousarray(arrival, np.float64),
        function=np.ascontiguousarray(function, np.int32),
        work=np.ascontiguousarray(work, np.float64),
        duration=float(duration),
        warm_up=scenario.workload.warm_up,
        off_cpu=off_cpu_time(scenario.functions, function),
        memory=np.array([one.memory for one in scenario.functions]),
        notes=notes,
        statistics=statistics or {},
    )
