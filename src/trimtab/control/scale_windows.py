"""What a selector over scale policies sees of every function in a window."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from trimtab.control.simulated import SimulatedPlatform
from trimtab.policies.scale.contract import FunctionMetrics
from trimtab.policies.scale.window import instances_now
from trimtab.policies.select.contract import Floats
from trimtab.policies.select.scale_features import context_of
from trimtab.scenario.model import Scenario
from trimtab.sim.deployment import deployments
from trimtab.sim.simulation import Simulation

KINDS = (
    "arrivals", "trend", "recent peak", "in flight", "queued", "ready", "starting", "cpu", "violations",
)  # fmt: skip
"""Features of each function: rates a second; ``trend`` is the change of the rate since the window before."""
RECENT = 10
"""Windows that the recent peak of the rate is taken over."""


def scale_feature_names(scenario: Scenario) -> tuple[str, ...]:
    """Names of a state's features, function by function."""
    return tuple(f"{kind} of {row.name}" for row in deployments(scenario) for kind in KINDS)


class ScaleWindows:
    """Observes a simulation window by window."""

    def __init__(self, simulation: Simulation) -> None:
        self._observer = SimulatedPlatform(simulation)
        self._rates: deque[Floats] = deque([np.zeros(len(simulation.deployed))], maxlen=RECENT)
        """Of each function, in the last windows."""

    def close(self) -> tuple[Floats, Floats, float]:
        """The window is over: features, context, and requests a second that arrived. The next one begins."""
        metrics = self._observer.observe()
        rates = np.array([each.arrival_rate for each in metrics])
        before = self._rates[-1]
        self._rates.append(rates)
        peaks = np.max(self._rates, axis=0)
        features = [
            _row(each, trend, peak) for each, trend, peak in zip(metrics, rates - before, peaks, strict=True)
        ]  # fmt: skip
        return np.concatenate(features), context_of(metrics, before, peaks), float(rates.sum())

    def cores(self) -> Floats:
        """Of one instance of each function."""
        cpu = self._observer.simulation.core.functions["cpu"]
        return np.where(np.isfinite(cpu), cpu, 1.0)


def _row(metrics: FunctionMetrics, trend: float, peak: float) -> Sequence[float]:
    seconds = max(metrics.window, 1e-9)
    return (
        metrics.arrival_rate, trend, peak, metrics.inflight, metrics.queued, metrics.ready,
        instances_now(metrics) - metrics.ready, metrics.cpu_cores, metrics.violations / seconds,
    )  # fmt: skip
