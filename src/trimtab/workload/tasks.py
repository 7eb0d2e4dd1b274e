"""Batch tasks: a Poisson number an interval, each of an application drawn at random."""

from __future__ import annotations

import numpy as np

from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import TasksSpec
from trimtab.workload.assemble import assemble
from trimtab.workload.entries import choose, entry_shares
from trimtab.workload.random_streams import stream
from trimtab.workload.steps import stepped_arrivals
from trimtab.workload.table import Floats, Ints, Workload


def build_tasks(scenario: Scenario, spec: TasksSpec, seed: int) -> Workload:
    """Tasks that arrive during the intervals, to be assigned at the next one."""
    random = stream(seed, "arrivals")
    arrival = stepped_arrivals(spec.rate, spec.steps, spec.interval, spec.duration, random)
    return assemble(scenario, arrival, _functions(scenario, spec, arrival, random), spec.duration, seed)


def _functions(scenario: Scenario, spec: TasksSpec, arrival: Floats, random: np.random.Generator) -> Ints:
    """An application for each task, by the mix of the step in which it arrives."""
    shares = spec.shares
    parts, begin = [], 0
    for step in (None, *spec.steps):
        if step is not None and step.shares:
            end = int(np.searchsorted(arrival, step.at))
            parts.append(choose(entry_shares(scenario, shares), end - begin, random))
            shares, begin = step.shares, end
    parts.append(choose(entry_shares(scenario, shares), len(arrival) - begin, random))
    return np.concatenate(parts)
