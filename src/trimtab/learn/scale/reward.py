"""What an autoscaler is rewarded for, at every step."""

from __future__ import annotations

import math

from trimtab.policies.scale.agent import tail_ratio
from trimtab.policies.scale.contract import FunctionMetrics
from trimtab.policies.scale.window import instances_now

VIOLATION = 5.0
"""Core-seconds that one violation is worth."""
HOPELESS = -5.0


def qos_reward(metrics: FunctionMetrics) -> float:
    """The slides' reward: quality of service alone.

    1 where the tail latency keeps the requirement, else minus the logarithm of how often it exceeds it: never
    clipped, so that deep in overload a step that helps still shows. Worked example: a 95th percentile of 1.5 s
    against 500 ms is 3 times the requirement: -ln 3 = -1.1.
    """
    ratio = tail_ratio(metrics)
    return 1.0 if ratio <= 1.0 else -math.log(ratio)


def balanced_reward(metrics: FunctionMetrics) -> float:
    """Resources count too: cores over the load, and violations at ``VIOLATION`` core-seconds each, negative.

    Worked example: 12 instances of one core under a load of 10 without a violation: -1.2.
    """
    work = (metrics.service_mean or 0.0) * metrics.cpu_limit
    load = max(metrics.arrival_rate * work, 1.0)
    cores = instances_now(metrics) * metrics.cpu_limit
    violations = VIOLATION * metrics.violations / metrics.window
    return max(-(cores + violations) / load, HOPELESS)
