"""One episode: a run of the engine from an empty cluster to the end of every invocation, and what came of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.learn.faasrank import record
from trimtab.policies.place.decorator import PlacePolicy
from trimtab.policies.place.faasrank import WEIGHTS
from trimtab.policies.place.metrics import OF_FUNCTION
from trimtab.scenario.model import Scenario
from trimtab.sim.meters import meter_all
from trimtab.sim.simulation import Simulation
from trimtab.workload.table import Workload

Floats = npt.NDArray[np.float64]
_LARGEST = 2**26
"""Floats that one episode's record may take: half a gigabyte."""


@dataclass(frozen=True)
class Episode:
    """What Algorithm 1 collects: a row a decision."""

    inputs: npt.NDArray[np.float32]
    """Decisions × servers × 26, normalised."""
    feasible: npt.NDArray[np.bool_]
    """Decisions × servers."""
    choice: npt.NDArray[np.int64]
    log_probability: Floats
    time: Floats
    rewards: Floats
    """After each action: −(time to the next action, or to the episode's end) × the mean number in flight in it."""
    requests: int

    @property
    def returns(self) -> Floats:
        """Equation 2 with γ = 1: the rewards from each action to the end."""
        return np.cumsum(self.rewards[::-1])[::-1]

    @property
    def mean_completion(self) -> float:
        """Seconds; in-flight request-seconds since the first action over requests (equation 3)."""
        return -float(self.rewards.sum()) / max(self.requests, 1)

    def __len__(self) -> int:
        return len(self.choice)


@cache
def _recorder(memory: int) -> PlacePolicy:
    return replace(record.recorder, memory=memory, weights=(0.0,) * (WEIGHTS + 2 * OF_FUNCTION))


def play(scenario: Scenario, workload: Workload, seed: int, weights: Floats) -> Episode:
    """Run the stochastic policy; ``seed`` is that of its draws, ``weights`` the actor's and the function scale."""
    hosts = sum(group.count for group in scenario.hosts)
    length = record.HEAD + hosts * record.SERVER
    stages = max(len(scenario.functions), 1) if any(each.next for each in scenario.functions) else 1
    memory = record.START + hosts + len(workload) * stages * length
    if memory > _LARGEST:
        raise TrimtabError(
            f"an episode of {len(workload)} requests on {hosts} hosts takes {memory} numbers, must be at most "
            f"{_LARGEST}: train on a shorter workload or on fewer hosts; the weights serve any number"
        )
    simulation = Simulation(scenario, workload, seed, place=_recorder(memory))
    simulation.mind.weights[:] = weights
    simulation.advance(math.inf)
    meter_all(simulation.core)
    return _episode(simulation, hosts, length)


def _episode(simulation: Simulation, hosts: int, length: int) -> Episode:
    memory = simulation.mind.memory
    if memory[record.FULL]:
        raise TrimtabError("an episode has more decisions than requests, must place each request once")
    count, start = int(memory[record.COUNT]), record.START + hosts
    rows = memory[start : start + count * length].reshape(count, length)
    servers = rows[:, record.HEAD :].reshape(count, hosts, record.SERVER)
    inflight = np.append(rows[:, record.INFLIGHT], float(simulation.core.world[0]["inflight_seconds"]))
    return Episode(
        inputs=servers[:, :, 1:].astype(np.float32),
        feasible=servers[:, :, 0] > 0.0,
        choice=rows[:, record.CHOICE].astype(np.int64),
        log_probability=rows[:, record.LOG_PROBABILITY].copy(),
        time=rows[:, record.TIME].copy(),
        rewards=-np.diff(inflight),
        requests=len(simulation.workload),
    )
