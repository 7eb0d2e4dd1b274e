"""Λ, on which MetaNet and its rivals are trained: what each scheduler was seen to cost, and in which state.

    Λ = {(k, W, H, S, φ, ω)}

Every candidate plans for Γ = 100 intervals from the start of one run, all of them under the same arrivals. W, H and S
are those before the plan, zero and empty at first; φ is what the interval cost and ω how long the scheduler ran. As the
paper has it, the run is neither longer nor repeated: in a scenario whose load shifts, Λ holds its first stretch only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from trimtab.control.assign_windows import assign_feature_names
from trimtab.control.run import Driver, Team
from trimtab.control.selecting import Selection, candidate_of, window_of
from trimtab.errors import TrimtabError
from trimtab.learn.recipe import TRAINING_SEEDS
from trimtab.policies.select.contract import CANDIDATES, Situation, State, WindowOutcome
from trimtab.scenario.model import Scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

INTERVALS = 100
"""Γ."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Dataset:
    """Rows of Λ, policy by policy and interval by interval."""

    candidates: tuple[str, ...]
    features: tuple[str, ...]
    policy: npt.NDArray[np.int64]
    states: Floats
    following: Floats
    """[W, H, S] after the interval: the state of the next one."""
    outcomes: Floats
    """φ in USD and ω in seconds."""

    @property
    def most(self) -> Floats:
        """φ_max and ω_max of each policy."""
        return np.stack([self.outcomes[self.policy == each].max(0) for each in range(len(self.candidates))])

    @property
    def cheapest(self) -> str:
        """The policy of the lowest mean φ."""
        means = [self.outcomes[self.policy == each, 0].mean() for each in range(len(self.candidates))]
        return self.candidates[int(np.argmin(means))]


class _Recorder:
    """A selector that always takes the same policy, and notes the state before and what came of it."""

    name: ClassVar[str] = "recorder"
    decision: ClassVar[str] = "select"

    def reset(self, situation: Situation, seed: int) -> None:
        """Nothing is noted yet."""
        self._always = situation.candidates[0]
        self.states: list[Floats] = []
        self.outcomes: list[tuple[float, float]] = []

    def choose(self, state: State, now: float) -> str:
        """The only candidate."""
        self.states.append(state.features)
        return self._always

    def learn(self, outcome: WindowOutcome) -> None:
        """One row; an interval in which there was nothing to plan is none."""
        if len(self.outcomes) < len(self.states) and outcome.cost is not None:
            self.outcomes.append((outcome.cost, outcome.seconds))


def collect(scenario: Scenario, seed: int, intervals: int = INTERVALS) -> Dataset:
    """Λ of a scenario; ``seed`` says which of the workloads of training."""
    if scenario.decision != "assign":
        raise TrimtabError(f"this selects assign policies, this scenario's decision is {scenario.decision!r}")
    settings = scenario.parameters.get("select", {})
    candidates = tuple(settings.get("candidates", CANDIDATES["assign"]))
    features = assign_feature_names(scenario)
    parts = [_one(scenario, name, features, TRAINING_SEEDS + seed, intervals) for name in candidates]
    states, following, outcomes = (np.concatenate(each) for each in zip(*parts, strict=True))
    policy = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    return Dataset(candidates, features, policy, states, following, outcomes)


def _one(
    scenario: Scenario, name: str, features: tuple[str, ...], seed: int, intervals: int
) -> tuple[Floats, Floats, Floats]:
    """States, those that follow, and outcomes of one policy."""
    policy = candidate_of(scenario, name)
    situation = Situation("assign", (name,), name, features, window_of(scenario))
    recorder = _Recorder()
    team = Team({"assign": policy, "select": Selection(recorder, {name: policy}, situation)})
    driver = Driver(scenario, Simulation(scenario, build_workload(scenario, seed), seed), team, seed)
    # the last interval's cost is known when the next one begins
    driver.drive((intervals + 1) * scenario.control.interval)
    count = min(len(recorder.outcomes), len(recorder.states) - 1)
    if count < 1:
        raise TrimtabError(f"no tasks in the first {intervals} intervals, the workload must be longer or denser")
    states = np.array(recorder.states[: count + 1])
    return states[:-1], states[1:], np.array(recorder.outcomes[:count])
