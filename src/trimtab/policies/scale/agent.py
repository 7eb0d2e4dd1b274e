"""What ``q-table`` and ``dqn`` have in common: what they see, and what they may do about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.policies.parameters import check_parameters
from trimtab.policies.scale import checks
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics, Knob
from trimtab.policies.scale.window import instances_now, known
from trimtab.policies.trained import Trained

Floats = npt.NDArray[np.float64]

PAPER_FEATURES = ("slo", "cpu", "memory", "containers")
"""The slides' state: the requirement, resource use, the number of containers."""
BEST_FEATURES = (*PAPER_FEATURES, "size", "tail", "load", "trend", "queue")
DIRECTIONS = ("horizontal", "vertical", "joint")
_MANY = 100.0
"""Containers that count as 1."""
_TAIL = 4.0
"""A tail of so many times the requirement counts as 1, and no tail as more."""


@dataclass(frozen=True, slots=True)
class AgentState:
    """What an agent remembers of a function: the load of the tick before."""

    load: float


def features_of(recipe: str, direction: str) -> tuple[str, ...]:
    """What an agent sees; the slides' vertical one sees the size that it changes as well."""
    if not recipe.startswith("paper"):
        return BEST_FEATURES
    return (*PAPER_FEATURES, "size") if direction == "vertical" else PAPER_FEATURES


def actions_of(direction: str) -> tuple[tuple[int, int], ...]:
    """Changes of (instances, steps of CPU), least resources first."""
    checks.one_of("direction", direction, DIRECTIONS)
    if direction == "horizontal":
        return ((-1, 0), (0, 0), (1, 0))
    if direction == "vertical":
        return ((0, -1), (0, 0), (0, 1))
    return tuple(sorted(((out, up) for out in (-1, 0, 1) for up in (-1, 0, 1)), key=lambda pair: (sum(pair), pair)))


def observe(features: tuple[str, ...], metrics: FunctionMetrics, before: float | None) -> tuple[Floats, AgentState]:
    """Inputs in the order of ``features``, each about 0 to 1; ``before`` is the load of the tick before."""
    instances = instances_now(metrics)
    capacity = max(instances, 1) * metrics.cpu_limit
    work = (metrics.service_mean or 0.0) * metrics.cpu_limit
    load = metrics.arrival_rate * work
    values = {
        "slo": metrics.slo if metrics.slo is not None else 0.0,
        "cpu": metrics.cpu_cores / capacity,
        "memory": metrics.memory_bytes / (max(instances, 1) * metrics.memory_limit),
        "containers": instances / _MANY,
        "size": metrics.cpu_limit,
        "tail": min(tail_ratio(metrics) / _TAIL, 1.0),
        "load": min(load / capacity, 2.0),
        "trend": 0.0 if before is None else min(max((load - before) / capacity, -1.0), 1.0),
        "queue": min(metrics.queued / capacity, 10.0) / 10.0,
    }
    return np.array([values[name] for name in features]), AgentState(load)


def tail_ratio(metrics: FunctionMetrics) -> float:
    """The 95th percentile of the latency over the requirement; without answers, whether any request waits."""
    if metrics.slo is None:
        return 0.0
    if metrics.latency_p95 is None:
        return _TAIL if metrics.queued > 0 else 0.0
    return metrics.latency_p95 / metrics.slo


def choose(values: Floats, tie: float) -> int:
    """The best action; of those within ``tie`` of it, the one with the least resources."""
    return int(np.argmax(values >= values.max() - tie))


@dataclass(frozen=True)
class Agent(ABC):
    """Looks up the value of every action in the state that it sees, and takes the best."""

    name: ClassVar[str] = "agent"
    knob: ClassVar[Knob | None] = None

    features: tuple[str, ...]
    direction: str
    cpu_step: float = 0.25
    """Cores that a vertical action adds or takes."""
    tie: float = 0.0
    period: float = 5.0

    def __post_init__(self) -> None:
        checks.positive("cpu_step", self.cpu_step)
        checks.not_negative("tie", self.tie)
        checks.positive("period", self.period)

    @abstractmethod
    def values(self, inputs: Floats) -> Floats:
        """The expected return of every action."""

    def decide(
        self, metrics: FunctionMetrics, state: AgentState | None, now: float
    ) -> tuple[Desired, AgentState | None]:
        """See, value, act."""
        if not known(metrics, metrics.cpu_cores, metrics.memory_bytes):
            return HOLD, state
        inputs, state = observe(self.features, metrics, state.load if state else None)
        action = choose(self.values(inputs), self.tie)
        return act(metrics, actions_of(self.direction)[action], self.cpu_step), state


def act(metrics: FunctionMetrics, action: tuple[int, int], cpu_step: float) -> Desired:
    """An action as a decision; the smallest size is one instance, and one step of CPU."""
    out, up = action
    cpu = max(metrics.cpu_limit + up * cpu_step, cpu_step) if up else None
    instances = max(instances_now(metrics) + out, 1) if out else None
    return Desired(instances, cpu, reason=f"action {out:+d} instances, {up:+d} steps of CPU")


def shared_settings(trained: Trained, parameters: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The settings that every agent has, from the folder and then from the user."""
    settings = trained.description.settings
    check_parameters(trained.description.policy, parameters, defaults)
    direction = settings.get("direction")
    if direction not in DIRECTIONS:
        raise TrimtabError(f"{trained.where}: direction = {direction!r}, must be one of: {', '.join(DIRECTIONS)}")
    known_settings = {name: settings.get(name, default) for name, default in defaults.items()}
    return {"direction": direction, **known_settings, **parameters}


DEFAULTS: dict[str, Any] = {"cpu_step": 0.25, "tie": 0.0, "period": 5.0}
"""Parameters of an agent that a user may set."""
