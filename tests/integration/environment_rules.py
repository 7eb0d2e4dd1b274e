"""Rules that an agent can play from what an environment shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.policies.place import outside as place_outside
from trimtab.policies.route import outside as route_outside

_INFLIGHT = place_outside.FEATURES.index("host.inflight")
_LOAD = route_outside.FEATURES.index("worker.load")


def fewest_inflight(features: np.ndarray, mask: np.ndarray) -> int:
    """``least-connections``: the first of the hosts with the fewest requests."""
    return int(np.argmin(np.where(mask == 1, features[:, _INFLIGHT], np.inf)))


def lowest_load(features: np.ndarray, mask: np.ndarray) -> int:
    """``load-balancing``: the first of the workers with the lowest load."""
    return int(np.argmin(np.where(mask[:-1] == 1, features[:, _LOAD], np.inf)))


def play(environment: Any, rule: Any, **reset: Any) -> tuple[list[float], int]:
    """One episode; its rewards and the number of decisions."""
    seen, _ = environment.reset(**reset)
    rewards, over = [], False
    while not over:
        seen, reward, terminated, truncated, _ = environment.step(rule(seen["features"], seen["mask"]))
        rewards.append(reward)
        over = terminated or truncated
    return rewards, len(rewards)
