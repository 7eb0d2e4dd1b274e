"""``trimtab/Scale-v0``: instances of every function, each control period."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from trimtab.control.feed import MetricsFeed
from trimtab.control.guards import ScaleGuard
from trimtab.control.run import decisions_of
from trimtab.control.simulated import SimulatedPlatform
from trimtab.control.ticks import Ticks, is_hopeless
from trimtab.errors import TrimtabError, unknown
from trimtab.learn.environments.episodes import Episodes, above_zero, scenario_of
from trimtab.learn.environments.scale_view import FEATURES, LIMIT, features_of
from trimtab.learn.environments.stepped import team_of
from trimtab.policies import registry
from trimtab.policies.scale.contract import Desired, FunctionMetrics
from trimtab.scenario.model import Scenario
from trimtab.sim.meters import meter_all
from trimtab.sim.simulation import Simulation

__all__ = ["FEATURES", "ScaleEnvironment", "ScaleWeights"]

Actions = npt.NDArray[Any]
Array = npt.NDArray[np.float32]
ACTIONS = ("steps", "residuals")


@dataclass(frozen=True)
class ScaleWeights:
    """What a period costs; the reward is minus the sum."""

    violations: float = 1.0
    """Times the share of requests that missed the deadline, failed or were rejected, a function; the mean."""
    instances: float = 0.01
    """Times the mean number of instances, all functions together."""
    changes: float = 0.0
    """Times the number of functions whose instances were changed."""


class _Chosen:
    """A scale policy whose answers come from outside: so that the guard of the control loop checks them too."""

    name, period, knob = "outside", math.inf, None

    def __init__(self) -> None:
        self.desired = Desired(valid=False)

    def decide(self, metrics: FunctionMetrics, state: Any, now: float) -> tuple[Desired, Any]:
        """What was chosen."""
        return self.desired, state


class ScaleEnvironment(gymnasium.Env[Array, Actions]):
    """Every ``control.period`` (15 s where the scenario names none) an action for each function.

    ``steps``: 0 one instance fewer, 1 none, 2 one more, or ``step`` of them. ``residuals``: −1 … 1, by which the
    answer of ``rule`` is corrected, in shares of ``spread``. Metrics come ``control.metrics_delay`` late, and a new
    instance takes its start-up time, as in the control loop. The reward is not delayed. An episode terminates
    when every request has ended; ``time_limit`` truncates it, and so does a run that can never end.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as its base class has it)

    def __init__(
        self,
        scenario: str | Path | Scenario = "autoscale-fibonacci",
        *,
        changes: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
        actions: str = "steps",
        step: int = 1,
        rule: str = "square-root",
        spread: float = 0.5,
        weights: ScaleWeights | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.scenario = scenario_of(scenario, changes)
        if "scale" not in decisions_of(self.scenario):
            raise TrimtabError(
                f"scenario {self.scenario.name!r} decides {', '.join(decisions_of(self.scenario))}, "
                "must have instances that are scaled (platform.instances: controlled)"
            )
        if actions not in ACTIONS:
            raise unknown("actions", actions, ACTIONS)
        self.weights = weights or ScaleWeights()
        self.period = self.scenario.control.period or 15.0
        self._actions, self._step, self._spread = actions, step, spread
        self._time_limit = above_zero("time_limit", time_limit)
        self._rule = registry.load("scale", rule)
        self._episodes = Episodes(self.scenario, seeds)
        self._team = team_of(self.scenario, "scale")
        functions = len(self.scenario.functions)
        self.observation_space = gymnasium.spaces.Box(-LIMIT, LIMIT, (functions, len(FEATURES)), np.float32)
        self.action_space: gymnasium.Space[Actions]
        if actions == "steps":
            self.action_space = gymnasium.spaces.MultiDiscrete([3] * functions)
        else:
            self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (functions,), np.float32)
        self.simulation: Simulation
        self._open = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin the next episode, at the first tick with metrics; ``options={"seed": 7}`` plays that workload."""
        super().reset(seed=seed)
        if seed is not None:
            self._episodes.restart()
        self._seed = self._episodes.next(self.np_random, options)
        workload, control = self._episodes.workload(self._seed), self.scenario.control
        self.simulation = Simulation(
            self.scenario, workload, self._seed, place=self._team["place"], route=self._team["route"]
        )
        self._platform = SimulatedPlatform(self.simulation)
        self._feed = MetricsFeed(self._platform, control.metrics_delay)
        self._ticks = Ticks(self.simulation, self.period)
        self._chosen = _Chosen()
        self._guard = ScaleGuard(
            self._chosen, control.minimum, control.maximum, control.cpu_minimum, control.cpu_maximum
        )
        self._states: list[Any] = [None] * len(self.scenario.functions)
        self._seen: list[FunctionMetrics] = []
        self._before = self._totals()
        while not self._seen and not self._over():
            self._tick()
        if not self._seen:
            raise TrimtabError(f"scenario {self.scenario.name!r}, seed = {self._seed}: ends before the first tick")
        self._open = True
        return self._look(), self._info()

    def step(self, action: Actions) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Scale every function, and run to the next tick."""
        if not self._open:
            raise TrimtabError("the episode is over, must be reset before another step")
        changed = self._act(np.asarray(action))
        self._tick()
        terminated = self.simulation.ended
        truncated = not terminated and (self.simulation.now >= self._time_limit or is_hopeless(self.simulation))
        self._open = not terminated and not truncated
        return self._look(), self._reward(changed), terminated, truncated, self._info()

    def _over(self) -> bool:
        return self.simulation.ended or is_hopeless(self.simulation)

    def _tick(self) -> None:
        """Run to the next tick or the end; new metrics replace those that were seen last."""
        while not self._over():
            if self._ticks.run(math.inf):
                self._seen = self._feed.observe(self.simulation.now) or self._seen
                return

    def _act(self, action: Actions) -> int:
        if action.shape != self.action_space.shape:
            raise TrimtabError(f"action of shape {action.shape}, must be {self.action_space.shape}: one a function")
        wrong = ~np.isfinite(action) if self._actions == "residuals" else ~np.isin(action, (0, 1, 2))
        if wrong.any():
            allowed = "finite numbers" if self._actions == "residuals" else "0, 1 or 2"
            raise TrimtabError(f"action = {action[wrong][0]}, must be {allowed}")
        changed = 0
        for index, metrics in enumerate(self._seen):
            self._chosen.desired = self._desired(index, metrics, float(action[index]))
            desired, _ = self._guard.decide(metrics, None, self.simulation.now)
            changed += self._platform.act(index, desired)
        return changed

    def _desired(self, index: int, metrics: FunctionMetrics, action: float) -> Desired:
        if self._actions == "steps":
            row = self.simulation.core.functions[index]
            return Desired(int(row["ready"] + row["starting"]) + self._step * (int(action) - 1))
        desired, self._states[index] = self._rule.decide(metrics, self._states[index], self.simulation.now)
        if not desired.valid or desired.instances is None:
            return Desired(valid=False)
        return Desired(round(desired.instances * (1.0 + self._spread * min(max(action, -1.0), 1.0))))

    def _totals(self) -> npt.NDArray[np.float64]:
        """By function, since the start: arrivals, violations, instance-seconds; and the time."""
        meter_all(self.simulation.core)
        rows = self.simulation.core.functions
        now = np.full(len(rows), self.simulation.now)
        return np.stack([rows["arrivals"], rows["violations"], rows["instance_seconds"], now])

    def _reward(self, changed: int) -> float:
        after = self._totals()
        arrivals, violations, instance_seconds, seconds = after - self._before
        self._before = after
        # a violation counts when the request ends, which may be in a period without arrivals
        share = violations / np.maximum(np.maximum(arrivals, violations), 1.0)
        mean = instance_seconds.sum() / max(seconds[0], 1e-9)
        weights = self.weights
        cost = weights.violations * share.mean() + weights.instances * mean + weights.changes * changed
        return -float(cost)

    def _look(self) -> Array:
        return features_of(self._seen, self.period)

    def _info(self) -> dict[str, Any]:
        return {"seed": self._seed, "now": self.simulation.now, "guard": dict(self._guard.events)}
