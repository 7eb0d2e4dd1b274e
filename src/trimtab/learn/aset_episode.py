"""An episode of ASET's training: one workload, window by window, until success falls too low or time is up."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.control.windows import RouteWindows, advance_window
from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.select.contract import CANDIDATES, WindowOutcome
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import StreamsSpec
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

Array = npt.NDArray[Any]

_JUDGED = 6
"""Windows over which success is held against the threshold: one is too few to tell."""


@dataclass(frozen=True)
class Reward:
    """What a window is worth: the share that succeeded, less weighted shares of what failed and was rejected."""

    succeeded: float = 1.0
    failed: float = 0.0
    rejected: float = 0.0

    def __call__(self, outcome: WindowOutcome) -> float:
        """The reward of one window; nothing where nothing ended."""
        if outcome.ended == 0:
            return 0.0
        lost = self.failed * outcome.failed + self.rejected * outcome.rejected
        return (self.succeeded * outcome.succeeded - lost) / outcome.ended


SUCCESS = Reward()
"""The paper's section on training: the rate of successful queries."""
FAILURES = Reward(succeeded=0.0, failed=1.0, rejected=0.5)
"""Its section on the algorithm: a linear combination of failed and rejected queries; coefficients are assumed."""


@dataclass(frozen=True)
class Step:
    """What one window brought."""

    features: Array
    demand: float
    """Requests a second that were asked for."""
    outcome: WindowOutcome
    terminated: bool
    """Success fell below the threshold: there is no future to hope for."""
    truncated: bool
    """Time was up: the future would have gone on."""


def policies_of(scenario: Scenario) -> dict[str, Any]:
    """The candidates of a scenario by name, in their order."""
    if scenario.decision != "route":
        raise TrimtabError(f"policy 'aset' selects route policies, this scenario's decision is {scenario.decision!r}")
    return {name: registry.load("route", name) for name in CANDIDATES["route"]}


def shortened(scenario: Scenario, seconds: float) -> Scenario:
    """The scenario with a workload of so many seconds and no warm-up."""
    spec = scenario.workload.model_copy(update={"duration": seconds, "warm_up": 0.0})
    return scenario.model_copy(update={"workload": spec})


def loaded(scenario: Scenario, times: float) -> Scenario:
    """The scenario with so many times its clients."""
    spec = scenario.workload
    assert isinstance(spec, StreamsSpec)  # what routing is made of: policies_of has checked
    changed = {
        "rate": spec.rate * times,
        "steps": tuple(step.model_copy(update={"rate": step.rate * times}) for step in spec.steps),
    }
    return scenario.model_copy(update={"workload": spec.model_copy(update=changed)})


class Episode:
    """A run that the learner drives."""

    def __init__(self, scenario: Scenario, seed: int, policies: dict[str, Any], timeout: float, threshold: float):
        self.scenario, self.policies = scenario, policies
        self.timeout, self.threshold = timeout, threshold
        self.simulation = Simulation(
            scenario, build_workload(scenario, seed), seed, route=next(iter(policies.values()))
        )
        self._windows = RouteWindows(self.simulation)
        self._recent: deque[float] = deque(maxlen=_JUDGED)
        self.first = self._windows.close(next(iter(policies)))[0].features

    def step(self, policy: str) -> Step:
        """Let a policy decide for one window."""
        self.simulation.switch("route", self.policies[policy])
        state, outcome = advance_window(self._windows, policy, self.scenario.control.window)
        self._recent.append(outcome.success)
        low = len(self._recent) == _JUDGED and float(np.mean(self._recent)) < self.threshold
        over = self.simulation.now >= self.timeout - 1e-9 or self.simulation.ended
        return Step(state.features, state.demand, outcome, terminated=low, truncated=over and not low)
