"""``trimtab/Place-v0``: a host for each request, as it arrives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trimtab.learn.environments.batch import Batch
from trimtab.learn.environments.decision import place_decision
from trimtab.learn.environments.episodes import scenario_of
from trimtab.learn.environments.stepped import SteppedEnvironment
from trimtab.policies.place.outside import FEATURES
from trimtab.scenario.model import Scenario

__all__ = ["FEATURES", "BatchedPlace", "PlaceEnvironment"]


class PlaceEnvironment(SteppedEnvironment):
    """A decision a request; the reward is minus the time that all requests spent in flight since the last one.

    That is FaaSRank's −(t_i − t_{i−1})·F_i, as an exact integral: the rewards of an episode add up to minus the
    sum of the completion times. A request that no host can take is rejected without a decision.
    """

    def __init__(
        self,
        scenario: str | Path | Scenario = "faasrank-canada",
        *,
        changes: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
        max_hosts: int | None = None,
        time_limit: float | None = None,
        max_decisions: int | None = None,
        strict: bool = False,
    ) -> None:
        found = scenario_of(scenario, changes)
        super().__init__(place_decision(found, max_hosts, strict), found, seeds, time_limit, max_decisions)


class BatchedPlace(Batch):
    """``count`` such environments, stepped by one compiled call."""

    def __init__(
        self,
        scenario: str | Path | Scenario = "faasrank-canada",
        count: int = 16,
        *,
        changes: Sequence[str] = (),
        seeds: Sequence[int] | None = None,
        max_hosts: int | None = None,
        time_limit: float | None = None,
        max_decisions: int | None = None,
        strict: bool = False,
    ) -> None:
        found = scenario_of(scenario, changes)
        super().__init__(place_decision(found, max_hosts, strict), found, count, seeds, time_limit, max_decisions)
