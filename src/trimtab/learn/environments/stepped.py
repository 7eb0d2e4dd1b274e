"""One run that stops at every placement or routing: what Place and Route have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from trimtab.control.run import Driver, Team, build_team
from trimtab.errors import TrimtabError
from trimtab.learn.environments.decision import Decision, Limits, Observation
from trimtab.learn.environments.episodes import Episodes
from trimtab.learn.environments.meters import read_meters
from trimtab.policies import registry
from trimtab.scenario.model import Scenario
from trimtab.sim.batch import METERS
from trimtab.sim.simulation import Simulation
from trimtab.sim.state import Mind

TRIES = 100
"""Workloads without a single decision that are passed over before that is an error."""


def team_of(scenario: Scenario, decision: str) -> Team:
    """Who takes the other decisions of a scenario: as in a comparison of policies of this one."""
    return build_team(scenario, decision, next(iter(registry.BUILT_IN[decision])))


class SteppedEnvironment(gymnasium.Env[Observation, np.int64]):
    """The engine stops at each decision, and goes on with the action.

    An episode ends (terminates) when every request has ended; ``time_limit`` and ``max_decisions`` truncate it
    at a decision, which is then the last observation. A run that can never end is truncated too.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as its base class has it)

    def __init__(
        self,
        decision: Decision,
        scenario: Scenario,
        seeds: Sequence[int] | None,
        time_limit: float | None,
        max_decisions: int | None,
    ) -> None:
        self.decision, self.scenario = decision, scenario
        self.limits = Limits.given(time_limit, max_decisions)
        self.observation_space: gymnasium.Space[Any] = decision.observation_space()
        self.action_space = gymnasium.spaces.Discrete(decision.actions)
        self.simulation: Simulation
        """The run of this episode; its results are complete when the episode has terminated."""
        self._episodes = Episodes(scenario, seeds)
        self._team = team_of(scenario, decision.name)
        self._team.policies[decision.name] = decision.policy
        self._meters = np.zeros((1, len(METERS)))
        self._seed, self._decisions, self._open = 0, 0, False
        self._observation = decision.nothing()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episode; ``options={"seed": 7}`` plays the workload of seed 7."""
        super().reset(seed=seed)
        if seed is not None:
            self._episodes.restart()
        for _ in range(TRIES):
            self._begin(self._episodes.next(self.np_random, options))
            if self.simulation.asks:
                self._open = True
                return self._look(), self._info()
            if (options or {}).get("seed") is not None:
                break  # the same workload again would ask no more than before
        raise TrimtabError(f"scenario {self.scenario.name!r}, seed = {self._seed}: no {self.decision.name} decision")

    def _begin(self, seed: int) -> None:
        team = self._team.copy()
        workload = self._episodes.workload(seed)
        self.simulation = Simulation(self.scenario, workload, seed, place=team["place"], route=team["route"])
        self._driver = Driver(self.scenario, self.simulation, team, seed)
        self._seed, self._decisions = seed, 0
        self._driver.drive(math.inf)
        # an interval begins with a decision: what came before the first is nobody's doing
        read_meters(self.simulation.core.world, self._meters[0])

    @property
    def _memory(self) -> npt.NDArray[np.float64]:
        simulation = self.simulation
        mind: Mind = simulation.mind if self.decision.name == "place" else simulation.route_mind
        return mind.memory

    def _look(self) -> Observation:
        seen = self.decision.observe(self._memory[None])
        self._observation = {name: values[0] for name, values in seen.items()}
        return self._observation

    def _info(self, replaced: int = 0) -> dict[str, Any]:
        return {"seed": self._seed, "now": self.simulation.now, "replaced": replaced}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Decide, and run to the next decision or the end."""
        if not self._open:
            raise TrimtabError("the episode is over, must be reset before another step")
        answers, replaced = self.decision.answers(np.array([action], np.int64), self._observation["mask"][None])
        self._memory[0] = answers[0]
        self._driver.drive(math.inf)
        before, self._meters = self._meters, np.zeros_like(self._meters)
        read_meters(self.simulation.core.world, self._meters[0])
        self._decisions += 1
        asks = self.simulation.asks
        terminated = not asks and self.simulation.ended
        # without a decision and not at its end: requests wait for what nobody starts
        truncated = not terminated and (not asks or bool(self.limits.reached(self.simulation.now, self._decisions)))
        self._open = not terminated and not truncated
        if not asks:
            self._observation = self.decision.nothing()
        else:
            self._look()
        reward = float(self.decision.rewards(before, self._meters)[0])
        return self._observation, reward, terminated, truncated, self._info(replaced)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are allowed now, as sb3-contrib asks for it."""
        return self._observation["mask"].astype(bool)
