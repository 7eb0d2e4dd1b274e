"""Many runs that stop at every placement or routing, stepped by one compiled call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trimtab.control.experiment import Workloads
from trimtab.control.run import decisions_of
from trimtab.errors import TrimtabError
from trimtab.learn.environments.decision import Decision, Limits, Observation
from trimtab.learn.environments.episodes import Episodes
from trimtab.learn.environments.runs import Runs
from trimtab.learn.environments.stepped import TRIES, team_of
from trimtab.scenario.model import Scenario
from trimtab.sim import records
from trimtab.sim.batch import METERS, advance_many
from trimtab.sim.kernel import direct
from trimtab.sim.simulation import Simulation

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_BUDGET = 200_000
"""Events of a run between two looks from Python."""
_NOW = METERS.index("now")


@dataclass(frozen=True)
class Stepped:
    """What a step of all runs brought; a row each."""

    observations: Observation
    """Of the next decision; where an episode is over, of the first one of the next episode."""
    rewards: Floats
    terminated: Flags
    truncated: Flags
    final: dict[int, Observation]
    """The last observation of the episodes that are over."""
    replaced: int
    """Actions that the mask did not allow."""


class Batch:
    """``count`` runs of one scenario, each with the behaviour of the single environment."""

    def __init__(
        self,
        decision: Decision,
        scenario: Scenario,
        count: int,
        seeds: Sequence[int] | None,
        time_limit: float | None,
        max_decisions: int | None,
    ) -> None:
        if count < 1:
            raise TrimtabError(f"count = {count}, must be 1 or more")
        outside = set(decisions_of(scenario)) - {"place", "route"}
        if outside:
            raise TrimtabError(
                f"scenario {scenario.name!r} also decides {outside.pop()}, every period and in Python: "
                f"use trimtab/{decision.name.title()}-v0"
            )
        self.decision, self.scenario, self.count = decision, scenario, count
        self.limits = Limits.given(time_limit, max_decisions)
        self.observation_space = decision.observation_space()
        self.simulations: list[Simulation] = [None] * count  # type: ignore[list-item]
        """The runs of these episodes. One that is over keeps its results until its seed is played again."""
        self.decisions = np.zeros(count, np.int64)
        """Taken so far in the episode of each."""
        self.mask: npt.NDArray[np.int8]
        self._team = team_of(scenario, decision.name)
        self._team.policies[decision.name] = decision.policy
        # run number i plays every count-th seed from the i-th on
        kept = Workloads(scenario)
        self._episodes = [Episodes(scenario, seeds, kept, index, count) for index in range(count)]
        self._runs = Runs()
        self._memories = np.zeros((count, decision.policy.memory))
        self._table: npt.NDArray[np.int64] | None = None
        self._reasons = np.zeros(count, np.int64)
        self._meters = np.zeros((count, len(METERS)))
        self._advance: Callable[..., None] = direct(advance_many)
        self.seed(None)

    def seed(self, seed: int | None) -> None:
        """Seeds for drawing workloads: the same seed gives the same episodes."""
        self._random = [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(self.count)]
        for episodes in self._episodes:
            episodes.restart()

    def reset(self) -> Observation:
        """Begin the next episode of every run."""
        self._begin(np.arange(self.count))
        return self._look()

    def step(self, actions: npt.NDArray[np.int64]) -> Stepped:
        """Decide in every run, and take each to its next decision; an episode that is over is followed by the next."""
        self._memories[:, 0], replaced = self.decision.answers(np.asarray(actions, np.int64), self.mask)
        before = self._meters.copy()
        self._run(np.ones(self.count, np.int8))
        rewards = self.decision.rewards(before, self._meters)
        self.decisions += 1
        terminated = self._reasons != records.DECISION
        truncated = ~terminated & self.limits.reached(self._meters[:, _NOW], self.decisions)
        observations, final = self._look(), {}
        over = np.flatnonzero(terminated | truncated)
        if len(over):
            for index in over.tolist():
                last = {name: values[index] for name, values in observations.items()}
                final[index] = self.decision.nothing() if terminated[index] else last
            self._begin(over)
            observations = self._look()
        return Stepped(observations, rewards, terminated, truncated, final, replaced)

    def _look(self) -> Observation:
        seen = self.decision.observe(self._memories)
        self.mask = seen["mask"]
        return seen

    def _begin(self, which: npt.NDArray[np.int64]) -> None:
        """New runs in these places, each taken to its first decision."""
        left = which
        for _ in range(TRIES):
            for index in left.tolist():
                self._start(index)
            wanted = np.zeros(self.count, np.int8)
            wanted[left] = 1
            self._run(wanted)
            left = left[self._reasons[left] != records.DECISION]  # a workload without a decision is passed over
            if len(left) == 0:
                self.decisions[which] = 0
                return
        raise TrimtabError(f"scenario {self.scenario.name!r}: no {self.decision.name} decision in {TRIES} workloads")

    def _start(self, index: int) -> None:
        episodes = self._episodes[index]
        seed = episodes.next(self._random[index])
        before, simulation = self.simulations[index], self._runs.take(seed)
        if simulation is None:
            simulation = self._build(seed, episodes)
        if before is not None:
            self._runs.give(before)
        memory = self._memories[index]
        memory[:] = 0.0
        if self.decision.name == "place":
            simulation.mind = simulation.mind._replace(memory=memory)
        else:
            simulation.route_mind = simulation.route_mind._replace(memory=memory)
        self.simulations[index] = simulation
        self._locate(index)

    def _build(self, seed: int, episodes: Episodes) -> Simulation:
        place, route = self._team["place"], self._team["route"]
        simulation = Simulation(self.scenario, episodes.workload(seed), seed, place=place, route=route)
        if episodes.seeds is not None:  # it will be played again
            self._runs.remember(simulation)
        return simulation

    def _locate(self, index: int) -> None:
        addresses = self.simulations[index].addresses()
        if self._table is None:
            self._table = np.zeros((self.count, len(addresses)), np.int64)
        self._table[index] = addresses

    def _run(self, wanted: npt.NDArray[np.int8]) -> None:
        """Take the wanted runs to their next decision or their end; those that need room get it and go on."""
        choose, route = self.simulations[0].callbacks
        while wanted.any():
            self._advance(self._table, wanted, choose, route, _BUDGET, self._reasons, self._meters)
            if self._advance is advance_many:
                self._advance = direct(advance_many)
            if np.any(self._reasons == records.BAD_DECISION):
                raise TrimtabError(f"scenario {self.scenario.name!r}: a policy inside the engine answered badly")
            short = (wanted == 1) & (self._reasons == records.NEEDS_ROOM)
            for index in np.flatnonzero(short).tolist():
                self.simulations[index].reserve(0)
                self._locate(index)
            wanted = wanted * (short | (self._reasons == records.OUT_OF_BUDGET)).astype(np.int8)
