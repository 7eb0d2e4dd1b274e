"""``trimtab/Route-v0``: a worker for each stream of queries, or a rejection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trimtab.learn.environments.batch import Batch
from trimtab.learn.environments.decision import route_decision
from trimtab.learn.environments.episodes import scenario_of
from trimtab.learn.environments.stepped import SteppedEnvironment
from trimtab.policies.route.outside import FEATURES
from trimtab.scenario.model import Scenario

__all__ = ["FEATURES", "BatchedRoute", "RouteEnvironment"]


class RouteEnvironment(SteppedEnvironment):
    """A decision a stream that some worker suits; the last action rejects it.

    The reward is the number of queries answered in time since the last decision (``success``), so that those of
    an episode add up to all of them; or minus a weighted sum of failed (late ones too) and rejected queries
    (``penalty``).
    """

    def __init__(
        self,
        scenario: str | Path | Scenario = "aset-full-edge",
        *,
        changes: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
        max_workers: int | None = None,
        time_limit: float | None = None,
        max_decisions: int | None = None,
        strict: bool = False,
        reward: str = "success",
        failed_weight: float = 1.0,
        rejected_weight: float = 1.0,
    ) -> None:
        found = scenario_of(scenario, changes)
        decision = route_decision(found, max_workers, strict, reward, (failed_weight, rejected_weight))
        super().__init__(decision, found, seeds, time_limit, max_decisions)


class BatchedRoute(Batch):
    """``count`` such environments, stepped by one compiled call."""

    def __init__(
        self,
        scenario: str | Path | Scenario = "aset-full-edge",
        count: int = 16,
        *,
        changes: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
        max_workers: int | None = None,
        time_limit: float | None = None,
        max_decisions: int | None = None,
        strict: bool = False,
        reward: str = "success",
        failed_weight: float = 1.0,
        rejected_weight: float = 1.0,
    ) -> None:
        found = scenario_of(scenario, changes)
        decision = route_decision(found, max_workers, strict, reward, (failed_weight, rejected_weight))
        super().__init__(decision, found, count, seeds, time_limit, max_decisions)
