"""Traces with a row a request: arrival, function and work of each, in order of arrival."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Function, Scenario
from trimtab.workload.assemble import assemble
from trimtab.workload.spread import MOST_REQUESTS
from trimtab.workload.table import Floats, Ints, Workload
from trimtab.workload.trace_functions import function_of_trace


@dataclass(frozen=True)
class Rows:
    """What was read; times in seconds from the first arrival."""

    names: tuple[str, ...]
    arrival: Floats
    function: Ints
    work: Floats
    off_cpu: Floats = field(default_factory=lambda: np.empty(0))
    notes: tuple[str, ...] = ()


def functions_of(scenario: Scenario, rows: Rows) -> tuple[Function, ...]:
    """A function of the scenario for each name in the trace, with the mean and spread that it has there."""
    order = np.argsort(rows.function, kind="stable")
    groups = np.split(rows.work[order], np.cumsum(np.bincount(rows.function, minlength=len(rows.names)))[:-1])
    return tuple(
        function_of_trace(
            scenario, name, float(work.mean()), float(work.std() / max(work.mean(), 1e-12)),
            late=float(np.quantile(work, 0.99)),
        )
        for name, work in zip(rows.names, groups)
    )  # fmt: skip


def build_rows(scenario: Scenario, rows: Rows, seed: int) -> Workload:
    """The trace as it is: every seed replays the same requests."""
    if len(rows.arrival) > MOST_REQUESTS:
        raise TrimtabError(f"requests = {len(rows.arrival):,}, must be at most {MOST_REQUESTS:,} in one run")
    names = {function.name: index for index, function in enumerate(scenario.functions)}
    for name in rows.names:
        if name not in names:
            raise TrimtabError(f"the trace calls {name!r}, which the scenario's functions lack")
    index = np.array([names[name] for name in rows.names], np.int32)
    workload = assemble(
        scenario, rows.arrival, index[rows.function], float(rows.arrival[-1]), seed,
        work=rows.work, notes=(*rows.notes, "a recorded trace: every seed has the same requests"),
    )  # fmt: skip
    if len(rows.off_cpu):
        from dataclasses import replace

        return replace(workload, off_cpu=rows.off_cpu)
    return workload
