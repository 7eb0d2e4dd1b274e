"""The step that ``threshold-cpu`` and ``threshold-memory`` share.

    if use of one container > threshold: one up
    else:                                one down

There is no dead band: the rule moves at every tick, which is its point as a baseline.
"""

from __future__ import annotations

from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics
from trimtab.policies.scale.window import instances_now, known


def step(metrics: FunctionMetrics, use: float, threshold: float, what: str) -> Desired:
    """One up or one down; ``use`` is that of all containers together."""
    current = instances_now(metrics)
    if current == 0:
        return Desired(instances=1, reason="never below 1")
    if metrics.ready == 0 or not known(metrics, use):
        return HOLD
    if use / metrics.ready > threshold:
        return Desired(instances=current + 1, reason=f"{what} of a container over the threshold")
    return Desired(instances=max(1, current - 1), reason=f"{what} of a container not over the threshold")
