"""Pairs of equal hosts of which one has a task more: what that task cost.

A plan's search walks between such neighbours along a straight line, so networks are trained on that line too: half a
task is taken to cost half of what it adds. At a whole plan the gradient is then what one task more or less costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trimtab.learn.assign.traces import Traces

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Neighbours:
    """For each host row: its last step, from the host with one task less. Zeros where no such host was met."""

    load: Floats
    cost: Floats
    """Change of seconds, kWh and violations."""
    task: npt.NDArray[np.int64]
    """Task row that was added; -1 where no neighbour is known."""


def costs(traces: Traces) -> Floats:
    """Seconds, kWh and violations of each host row."""
    return np.column_stack([traces.seconds, traces.kwh, traces.violations])


def neighbours(traces: Traces) -> Neighbours:
    """Find them among the plans that were tried in one state; the empty host is everybody's neighbour."""
    whole = costs(traces)
    added = np.full(len(traces.first), -1, np.int64)
    change = np.zeros_like(whole)
    known: dict[tuple[int, int, tuple[int, ...]], int] = {}
    members = []
    for row, (first, count) in enumerate(zip(traces.first, traces.count, strict=True)):
        held = tuple(sorted(traces.task[first : first + count].tolist()))
        members.append(held)
        known[int(traces.state[row]), int(traces.host[row]), held] = row
    for row, held in enumerate(members):
        first = int(traces.first[row])
        for task in range(first, first + int(traces.count[row])):
            less = tuple(each for each in held if each != traces.task[task])
            other = known.get((int(traces.state[row]), int(traces.host[row]), less))
            if not less or other is not None:
                added[row] = task
                change[row] = whole[row] - (whole[other] if other is not None else 0.0)
                break
    load = np.where(added[:, None] >= 0, traces.edge[np.maximum(added, 0)], 0.0)
    return Neighbours(load, change, added)
