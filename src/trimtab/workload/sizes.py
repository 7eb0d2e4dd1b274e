"""How large the argument of each call must be, so that a real function does the work that was drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Function, Scenario
from trimtab.workload.table import Floats, Workload


def as_called(scenario: Scenario, workload: Workload) -> tuple[Workload, Floats]:
    """The workload with the work that calls of whole sizes really are, and the size of each call.

    A size is rounded and kept within the calibrated curve, so the work changes a little; a simulation of the
    workload that comes back sees the same work as a live platform. Not a number where a function has no sizes.
    """
    work, sizes = workload.work.copy(), np.full(len(workload), np.nan)
    if workload.streams is not None:
        return workload, sizes
    for index, function in enumerate(scenario.functions):
        rows = np.flatnonzero(workload.function == index)
        if len(rows) == 0 or function.code is None:
            continue
        if function.code.size is not None:
            sizes[rows], work[rows] = sized(function, workload.work[rows])
        elif function.code.curve:
            work[rows] = function.code.curve[0][1]
    return replace(workload, work=work), sizes


def sized(function: Function, work: Floats) -> tuple[Floats, Floats]:
    """Whole sizes whose calls come closest to ``work``, and the work of those."""
    code = function.code
    if code is None or not code.curve:
        raise TrimtabError(
            f"functions.{function.name}.code.curve is empty, must say how much work a size is: "
            "'trimtab calibrate functions' measures it"
        )
    known, seconds = np.array(code.curve).T
    size = np.round(np.interp(work, seconds, known))
    return size, np.interp(size, known, seconds)
