"""Edge inference for real: workers that detect faces, sites behind a delay, streams of frames, any routing policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trimtab.live.edge.session import EdgeRun
    from trimtab.scenario.model import Scenario

__all__ = ["run"]


def run(
    scenario: Scenario,
    policy: str | None = None,
    seconds: float | None = None,
    emulate: bool = False,
    seed: int = 1,
) -> EdgeRun:
    """Play a scenario of streams in real time; without a policy its baseline decides.

    ``seconds`` shortens the workload (``session.shortened`` does the same for the simulator). With ``emulate`` the
    workers answer empty after the delay of their profile, and everything else stays real.
    """
    from trimtab.live.edge.session import play

    return play(scenario, policy, seconds, emulate, seed)
