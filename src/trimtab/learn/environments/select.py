"""``trimtab/Select-v0``: which routing (or placement) policy decides for the next window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from trimtab.control.run import Driver, decisions_of
from trimtab.control.ticks import is_hopeless
from trimtab.errors import TrimtabError, unknown
from trimtab.learn.environments.episodes import Episodes, above_zero, scenario_of
from trimtab.learn.environments.select_view import FEATURES, LIMIT, SUMMARY, Window
from trimtab.learn.environments.stepped import team_of
from trimtab.policies import registry
from trimtab.scenario.model import Scenario
from trimtab.sim.deployment import deployments
from trimtab.sim.simulation import Simulation

__all__ = ["FEATURES", "SUMMARY", "SelectEnvironment"]

Observation = dict[str, npt.NDArray[Any]]
REWARDS = ("success", "penalty")


class SelectEnvironment(gymnasium.Env[Observation, np.int64]):
    """Every window (``control.window``) one of ``policies`` takes over.

    The reward is the share of the queries that ended in the window which were answered in time, 1 where none ended
    (``success``), or minus a weighted sum of the shares that failed (late ones too) and were rejected
    (``penalty``). An episode terminates when every request has ended, or when the share of successes in a window
    falls below ``least_success`` (ASET's threshold θ: the agent has failed); ``time_limit`` (ASET's timeout H)
    truncates it, and so does a run that can never end.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as its base class has it)

    def __init__(
        self,
        scenario: str | Path | Scenario = "aset-full-edge",
        *,
        changes: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
        decision: str | None = None,
        policies: Sequence[str] | None = None,
        window: float | None = None,
        reward: str = "success",
        failed_weight: float = 1.0,
        rejected_weight: float = 1.0,
        least_success: float = 0.0,
        time_limit: float | None = None,
    ) -> None:
        self.scenario = scenario_of(scenario, changes)
        allowed = [each for each in ("route", "place") if each in decisions_of(self.scenario)]
        if (decision is None and not allowed) or (decision is not None and decision not in allowed):
            has = ", ".join(decisions_of(self.scenario))
            raise TrimtabError(f"decision = {decision!r}, must be route or place; this scenario has: {has}")
        if reward not in REWARDS:
            raise unknown("reward", reward, REWARDS)
        self.decision = decision or allowed[0]
        self.policies = tuple(policies or registry.BUILT_IN[self.decision])
        """Names, by action."""
        self._choices = [self._load(name) for name in self.policies]
        self.window = self.scenario.control.window if window is None else above_zero("window", window)
        self._weights = None if reward == "success" else (failed_weight, rejected_weight)
        self._least_success, self._time_limit = least_success, above_zero("time_limit", time_limit)
        self._episodes = Episodes(self.scenario, seeds)
        self._team = team_of(self.scenario, self.decision)
        rows = len(deployments(self.scenario))
        if self.decision == "place":
            rows = sum(group.count for group in self.scenario.hosts)
        self.observation_space: gymnasium.Space[Any] = gymnasium.spaces.Dict(
            {
                "features": gymnasium.spaces.Box(-LIMIT, LIMIT, (rows, len(FEATURES[self.decision])), np.float32),
                "summary": gymnasium.spaces.Box(-LIMIT, LIMIT, (len(SUMMARY),), np.float32),
                "policy": gymnasium.spaces.MultiBinary(len(self.policies)),
            }
        )
        self.action_space = gymnasium.spaces.Discrete(len(self.policies))
        self.simulation: Simulation
        self._open = False

    def _load(self, name: str) -> Any:
        parameters = dict(self.scenario.parameters.get(name, {}))
        return registry.load(self.decision, name, parameters or None, self.scenario.name)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episode at time zero; ``options={"seed": 7}`` plays the workload of seed 7."""
        super().reset(seed=seed)
        if seed is not None:
            self._episodes.restart()
        self._seed = self._episodes.next(self.np_random, options)
        team, workload = self._team.copy(), self._episodes.workload(self._seed)
        team.policies[self.decision] = self._choices[0]
        self.simulation = Simulation(self.scenario, workload, self._seed, place=team["place"], route=team["route"])
        self._driver = Driver(self.scenario, self.simulation, team, self._seed)
        self._window = Window(self.simulation, self.decision)
        self._in_charge, self._number, self._open = -1, 0, True
        return self._look(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Hand over to a policy, and run to the end of the window."""
        if not self._open:
            raise TrimtabError("the episode is over, must be reset before another step")
        if not 0 <= action < len(self.policies):
            raise TrimtabError(f"action = {action}, must be 0 to {len(self.policies) - 1}")
        if action != self._in_charge:
            self._in_charge = int(action)
            self.simulation.switch(self.decision, self._choices[self._in_charge])
        self._number += 1
        self._driver.drive(self._number * self.window)
        self._window.close()
        failed = self._window.ended > 0 and self._window.success < self._least_success
        terminated = self.simulation.ended or failed
        truncated = not terminated and (self.simulation.now >= self._time_limit or is_hopeless(self.simulation))
        self._open = not terminated and not truncated
        return self._look(), self._window.reward(self._weights), terminated, truncated, self._info()

    def _look(self) -> Observation:
        policy = np.zeros(len(self.policies), np.int8)
        if self._in_charge >= 0:
            policy[self._in_charge] = 1
        return {"features": self._window.features(), "summary": self._window.summary(), "policy": policy}

    def _info(self) -> dict[str, Any]:
        name = self.policies[self._in_charge] if self._in_charge >= 0 else None
        return {"seed": self._seed, "now": self.simulation.now, "policy": name}
