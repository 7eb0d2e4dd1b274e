"""Batch tasks: a Poisson number an interval, each of an application drawn at random."""

from __future__ import annotations

from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import TasksSpec
from trimtab.workload.assemble import assemble
from trimtab.workload.entries import choose, entry_shares
from trimtab.workload.random_streams import stream
from trimtab.workload.steps import stepped_arrivals
from trimtab.workload.table import Workload


def build_tasks(scenario: Scenario, spec: TasksSpec, seed: int) -> Workload:
    """Tasks that arrive during the intervals, to be assigned at the next one."""
    random = stream(seed, "arrivals")
    arrival = stepped_arrivals(spec.rate, spec.steps, spec.interval, spec.duration, random)
    function = choose(entry_shares(scenario), len(arrival), random)
    return assemble(scenario, arrival, function, spec.duration, seed)
