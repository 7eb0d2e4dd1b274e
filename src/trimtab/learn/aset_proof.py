"""Whether a trained selector is better than its fallback, on workloads that neither training nor evaluation uses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trimtab.learn.aset_calibration import SECONDS, Ground, play
from trimtab.policies.select.aset import Aset
from trimtab.policies.select.contract import Situation, State
from trimtab.policies.trained import Trained
from trimtab.report.statistics import t_interval

EPISODES = 8
_FIRST = 50_000
"""Number of the first episode, beyond those of any training."""


def proven(found: Trained, ground: Ground) -> Trained:
    """The same policy with its gain over the fallback, and whether that is more than chance explains."""
    selector = Aset(found, guard=False)
    situation = Situation("route", ground.names, selector.fallback, ground.features, ground.scenario.control.window)
    gains = []
    for number in range(EPISODES):
        selector.reset(situation, number)
        gains.append(_success(ground, number, selector.choose))
        gains[-1] -= _success(ground, number, lambda state, now: selector.fallback)
    interval = t_interval(np.array(gains))
    assert interval is not None
    about = found.description
    expectation = about.settings["expectation"] | {"proven": interval[0] > 0.0}
    proof = {"episodes": EPISODES, "gain": float(np.mean(gains)), "ci95": list(interval)}
    settings = about.settings | {"expectation": expectation, "proof": proof}
    return Trained(about.model_copy(update={"settings": settings}), found.arrays, found.where)


def _success(ground: Ground, number: int, choose: Callable[[State, float], str]) -> float:
    episode = ground.episode(0, _FIRST + number, SECONDS, threshold=0.0)
    return float(np.mean([step.outcome.success for step in play(episode, choose)]))
