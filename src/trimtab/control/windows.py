"""What a scheduler sees of its workers in a window: the state of a selector, and what came of a choice.

Features are ASET's: for each worker its streams, its throughput and its load, and over all of them the
incoming queries a second by range of tolerated delay and range of rate. All but the throughput, which is
counted, are sampled every second and averaged.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from trimtab.policies.select.contract import State, WindowOutcome
from trimtab.scenario.model import Scenario
from trimtab.sim.deployment import deployments
from trimtab.sim.simulation import Simulation

STEP = 1.0
"""Seconds between two samples."""
DELAYS = (0.05, 0.1, 0.2, 0.4)
"""Limits in seconds between the ranges of tolerated delay."""
RATES = (5.0, 12.0, 18.0)
"""Limits in queries a second between the ranges of a stream's rate."""
KINDS = ("streams", "throughput", "load")
"""Features of each worker."""


def feature_names(scenario: Scenario) -> tuple[str, ...]:
    """Names of a state's features: kind by kind, then demand by range."""
    workers = [row.name for row in deployments(scenario)]
    of_workers = [f"{kind} of {worker}" for kind in KINDS for worker in workers]
    of_demand = [
        f"incoming with delay {_range(DELAYS, delay, 1e3)} ms and rate {_range(RATES, rate, 1.0)}"
        for delay, rate in itertools.product(range(len(DELAYS) + 1), range(len(RATES) + 1))
    ]
    return (*of_workers, *of_demand)


def _range(limits: tuple[float, ...], position: int, unit: float) -> str:
    low = limits[position - 1] * unit if position > 0 else 0.0
    return f"{low:g}–{limits[position] * unit:g}" if position < len(limits) else f"over {low:g}"


@dataclass(frozen=True)
class _Counts:
    """Counters of the platform at one moment."""

    completed: int
    late: int
    failed: int
    rejected: int


class RouteWindows:
    """Observes a simulation window by window."""

    def __init__(self, simulation: Simulation) -> None:
        streams = simulation.columns.streams
        self.simulation = simulation
        ranges = len(RATES) + 1
        self._bins = len(DELAYS) + 1, ranges
        self._bin = np.searchsorted(DELAYS, streams["deadline"], "right") * ranges
        self._bin += np.searchsorted(RATES, streams["rate"], "right")
        self._begin = np.ascontiguousarray(streams["arrival"])
        self._end = streams["arrival"] + streams["duration"]
        self._rate = np.ascontiguousarray(streams["rate"])
        workers = simulation.core.functions
        self._capacity = max(float((workers["capacity"] * workers["instances"]).sum()), 1e-9)
        self._begin_window()

    def _begin_window(self) -> None:
        workers = self.simulation.core.functions
        self._since, self._samples = self.simulation.now, 0
        self._streams, self._load = np.zeros(len(workers)), np.zeros(len(workers))
        self._incoming = np.zeros(self._bins[0] * self._bins[1])
        self._answered = workers["completions"].astype(np.float64)
        self._counts = self._read()

    def _read(self) -> _Counts:
        world = self.simulation.core.world[0]
        return _Counts(int(world["completed"]), int(world["late"]), int(world["failed"]), int(world["rejected"]))

    def sample(self) -> None:
        """Look at what changes from moment to moment."""
        workers, now = self.simulation.core.functions, self.simulation.now
        self._streams += workers["streams"]
        self._load += workers["load"]
        # a stream that sends now, whether it was rejected or not; one that has not arrived is not known
        live = slice(0, int(np.searchsorted(self._begin, now, "right")))
        sending = self._rate[live] * (self._end[live] > now)
        self._incoming += np.bincount(self._bin[live], sending, len(self._incoming))
        self._samples += 1

    def close(self, policy: str) -> tuple[State, WindowOutcome]:
        """The window ends: what was seen in it and what came of it; the next one begins."""
        outcome = self._outcome(policy)
        seconds, samples = max(self.simulation.now - self._since, 1e-9), max(self._samples, 1)
        answered = self.simulation.core.functions["completions"] - self._answered
        incoming, load = self._incoming / samples, self._load / samples
        features = np.concatenate([self._streams / samples, answered / seconds, load, incoming])
        demand = float(incoming.sum())
        context = np.array([1.0, demand / self._capacity, float(load.sum()) / self._capacity, outcome.success])
        self._begin_window()
        return State(policy, features, context, demand), outcome

    def _outcome(self, policy: str) -> WindowOutcome:
        """Requests that ended in the window; a feasible worker is accurate enough, so in time is success."""
        before, after = self._counts, self._read()
        late = after.late - before.late
        return WindowOutcome(
            policy,
            succeeded=after.completed - before.completed - late,
            failed=late + after.failed - before.failed,
            rejected=after.rejected - before.rejected,
        )


def advance_window(windows: RouteWindows, policy: str, seconds: float) -> tuple[State, WindowOutcome]:
    """Run a simulation for one window, for those who drive it themselves."""
    simulation = windows.simulation
    begin = simulation.now
    for step in range(1, math.ceil(seconds / STEP) + 1):
        ended = simulation.advance(begin + min(step * STEP, seconds))
        windows.sample()
        if ended:
            break
    return windows.close(policy)
