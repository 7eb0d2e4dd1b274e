"""The memory of each of MetaNet's schedulers stays flat: the released code of some grew with every decision."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

from trimtab.control.assigning import AssignLoop
from trimtab.control.lookahead import run_until
from trimtab.control.simulated import SimulatedPlatform
from trimtab.policies import registry
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.first_fit import FirstFit
from trimtab.policies.select.contract import CANDIDATES
from trimtab.scenario.load import load_scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

INTERVALS, SETTLED = 1000, 200
"""Plans in all, and those after which histories and compiled code are there."""
MOST = 2**20
"""Bytes that may be kept of all later plans: less than a table of 16 hosts by 4 tasks and 12 columns of each."""
# 16 hosts and some three tasks at a time, so that 1,000 plans take seconds
SMALL = ("workload.rate=0.08", f"workload.duration={10 * INTERVALS + 100}")


def kept_by(policy: Any) -> int:
    """Bytes that were taken in the later intervals and not given back."""
    world = load_scenario("metanet-azure16", SMALL)
    policy.reset(1)
    loop = AssignLoop(SimulatedPlatform(Simulation(world, build_workload(world, 1), 1)), policy)
    plans = 0
    try:
        for interval in range(1, INTERVALS + 1):
            run_until(loop, interval * loop.interval)
            loop.tick()
            plans += loop.took > 0.0
            if interval == SETTLED:
                tracemalloc.start()
        gc.collect()
        assert plans > 0.9 * INTERVALS
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", CANDIDATES["assign"])
def test_memory_stays_flat_over_a_thousand_intervals(name: str) -> None:
    assert kept_by(registry.load("assign", name)) < MOST


class Leaky(FirstFit):
    """Keeps two kilobytes of every plan."""

    def reset(self, seed: int) -> None:
        super().reset(seed)
        self.kept: list[Any] = []

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        self.kept.append(np.zeros(256))
        return super().plan(tasks, hosts, current)


def test_a_leak_would_be_found() -> None:
    assert kept_by(Leaky()) > MOST
