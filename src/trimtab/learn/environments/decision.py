"""What placing and routing have in common as environments, for one run or for many at once.

Arrays have one row a run, so that a single environment and a batch compute the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from trimtab.control.run import decisions_of
from trimtab.errors import TrimtabError, unknown
from trimtab.learn.environments.episodes import above_zero
from trimtab.policies.place import outside as place_outside
from trimtab.policies.route import outside as route_outside
from trimtab.scenario.model import Scenario
from trimtab.sim.batch import METERS
from trimtab.sim.deployment import deployments

Floats = npt.NDArray[np.float64]
Observation = dict[str, npt.NDArray[Any]]

_INFLIGHT, _COMPLETED, _LATE, _FAILED, _REJECTED = (
    METERS.index(name) for name in ("inflight_seconds", "completed", "late", "failed", "rejected")
)
_REWARDS = {"place": ("inflight",), "route": ("success", "penalty")}


@dataclass(frozen=True)
class Limits:
    """When an episode is cut short. This is truncation, never termination: the run would have gone on."""

    time: float = math.inf
    """Simulated seconds: the first decision from then on is the last observation."""
    decisions: float = math.inf

    @classmethod
    def given(cls, time_limit: float | None, max_decisions: int | None) -> Limits:
        """From the options of an environment."""
        return cls(above_zero("time_limit", time_limit), above_zero("max_decisions", max_decisions))

    def reached(self, now: Any, decisions: Any) -> Any:
        """Whether a run that has another decision to take ends here."""
        return (now >= self.time) | (decisions >= self.decisions)


@dataclass(frozen=True)
class Decision:
    """One kind of decision: who the candidates are, what is seen of them, what an action means."""

    name: Literal["place", "route"]
    candidates: int
    """Rows of an observation; those without a host or worker are zero and masked."""
    features: tuple[str, ...]
    reward: str
    failed_weight: float = 1.0
    rejected_weight: float = 1.0
    strict: bool = False
    """Whether an action that the mask forbids is an error; else the next candidate that it allows is taken."""

    @property
    def actions(self) -> int:
        """A candidate each; the last one of routing rejects the stream."""
        return self.candidates + (self.name == "route")

    @property
    def policy(self) -> Any:
        """Who asks, inside the engine."""
        kind: Any = place_outside.Outside if self.name == "place" else route_outside.Outside
        return kind(self.candidates)

    def observation_space(self) -> spaces.Dict:
        """Features and mask."""
        limit = place_outside.LIMIT
        shape = (self.candidates, len(self.features))
        return spaces.Dict(
            {"features": spaces.Box(-limit, limit, shape, np.float32), "mask": spaces.MultiBinary(self.actions)}
        )

    def observe(self, memories: Floats) -> Observation:
        """What the policies of the runs have written to their memories."""
        rows, count = len(memories), self.candidates
        mask = np.ones((rows, self.actions), np.int8)
        mask[:, :count] = memories[:, 1 : 1 + count]
        features = memories[:, 1 + count :].reshape(rows, count, len(self.features))
        return {"features": features.astype(np.float32), "mask": mask}

    def nothing(self) -> Observation:
        """The observation after the end: there is nothing to decide, and no run goes on from it."""
        features = np.zeros((self.candidates, len(self.features)), np.float32)
        return {"features": features, "mask": np.zeros(self.actions, np.int8)}

    def answers(self, actions: npt.NDArray[np.int64], mask: npt.NDArray[np.int8]) -> tuple[Floats, int]:
        """What is put into the first place of the memories, and how many actions the mask did not allow."""
        wrong = actions[(actions < 0) | (actions >= self.actions)]
        if len(wrong):
            raise TrimtabError(f"action = {wrong[0]}, must be 0 to {self.actions - 1}")
        refused = np.flatnonzero(mask[np.arange(len(actions)), actions] == 0)
        if len(refused):
            if self.strict:
                raise TrimtabError(f"action = {actions[refused[0]]}, must be one that the mask allows")
            actions = actions.copy()
            for row in refused:
                allowed = np.flatnonzero(mask[row])
                actions[row] = allowed[np.searchsorted(allowed, actions[row]) % len(allowed)]
        rejected = actions >= self.candidates
        return np.where(rejected, -1, actions) + float(place_outside.OFFSET), len(refused)

    def rewards(self, before: Floats, after: Floats) -> Floats:
        """The reward of an interval, from the meters at its ends."""
        change = after - before
        if self.reward == "inflight":
            found = -change[:, _INFLIGHT]
        elif self.reward == "success":
            found = change[:, _COMPLETED] - change[:, _LATE]
        else:
            missed = self.failed_weight * (change[:, _FAILED] + change[:, _LATE])
            found = -(missed + self.rejected_weight * change[:, _REJECTED])
        return found


def place_decision(scenario: Scenario, max_hosts: int | None, strict: bool) -> Decision:
    """Placing in a scenario; an error where it does not place requests one by one."""
    if scenario.platform.dispatch != "host":
        raise TrimtabError(
            f"scenario {scenario.name!r} has platform.dispatch = {scenario.platform.dispatch!r}, "
            "must be 'host': only there each request is placed on a host"
        )
    hosts = sum(group.count for group in scenario.hosts)
    return Decision(
        "place", _room("max_hosts", max_hosts, hosts), place_outside.FEATURES, "inflight", strict=strict
    )  # fmt: skip


def route_decision(
    scenario: Scenario, max_workers: int | None, strict: bool, reward: str, weights: tuple[float, float]
) -> Decision:
    """Routing in a scenario; an error where there are no streams."""
    if "route" not in decisions_of(scenario):
        raise TrimtabError(
            f"scenario {scenario.name!r} decides {', '.join(decisions_of(scenario))}, "
            "must have streams of queries to route (workload.source: streams)"
        )
    if reward not in _REWARDS["route"]:
        raise unknown("reward", reward, _REWARDS["route"])
    workers = _room("max_workers", max_workers, len(deployments(scenario)))
    return Decision("route", workers, route_outside.FEATURES, reward, weights[0], weights[1], strict)


def _room(name: str, given: int | None, needed: int) -> int:
    if given is not None and given < needed:
        raise TrimtabError(f"{name} = {given}, must be at least {needed}, as many as the scenario has")
    return needed if given is None else given
