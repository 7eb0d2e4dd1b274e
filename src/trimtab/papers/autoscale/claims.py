"""Every claim of the slides: the rule that decides it, beside how it is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trimtab.papers.autoscale import reported
from trimtab.papers.autoscale.experiments import HORIZONTAL, INSTANCES, LATENCY, VERTICAL, Results
from trimtab.papers.claim import Claim, NotTestable
from trimtab.papers.criterion import Above, AtLeast, Below, Measurement, Within
from trimtab.papers.measure import mean, reduction

Measure = Callable[[Results], Measurement]
Curve = Callable[[Results], list[float]]
_FEWEST = 8
"""Episodes below which a learning curve has no end to speak of."""


def tail_over_objective(policy: str) -> Curve:
    """Tail latency of each episode over the objective: 1 is the objective."""
    return lambda results: [value / results.objective for value in results.curve(policy, LATENCY)]


def instances(results: Results) -> list[float]:
    """Mean instances of each episode."""
    return results.curve(HORIZONTAL, INSTANCES)


def millicores(results: Results) -> list[float]:
    """Millicores of one instance in each episode."""
    return results.millicores(VERTICAL)


def at_the_end(curve: Curve) -> Measure:
    """The mean over the last tenth of the episodes."""

    def measure(results: Results) -> Measurement:
        values = _long(curve(results))
        part = max(2, len(values) // 10)
        return mean(values[-part:], f"the first tenth: {np.mean(values[:part]):.4g}")

    return measure


def drift(curve: Curve) -> Measure:
    """Change from the third to the last quarter of the episodes, in percent of the last."""

    def measure(results: Results) -> Measurement:
        quarters = [float(part.mean()) for part in np.array_split(_long(curve(results)), 4)]
        third, last = quarters[2], quarters[3]
        if last == 0.0:
            raise NotTestable("the figure is zero at the end of training: no ratio describes its change")
        remark = f"{third:.4g} in the third quarter, {last:.4g} in the last"
        return Measurement(100.0 * (last - third) / abs(last), remark=remark)

    return measure


def stays_below(policy: str) -> Measure:
    """Percent of the last quarter's episodes whose tail latency keeps the objective."""

    def measure(results: Results) -> Measurement:
        last = np.array_split(_long(tail_over_objective(policy)(results)), 4)[3]
        return Measurement(float(100.0 * np.mean(last <= 1.0)), remark=f"{len(last)} points of the curve")

    return measure


def tail_latency(results: Results) -> Measurement:
    """95th percentile on unseen seeds over the objective."""
    found = results.of(HORIZONTAL, "p95_fct_s")
    return mean({seed: value / results.objective for seed, value in found.items()}, "on seeds that training never saw")


def saved(rule: str, figure: str) -> Measure:
    """By how many percent a figure of the learned autoscaler is below that of a naive rule."""

    def measure(results: Results) -> Measurement:
        others = {name: results.of(name, "sla_violation_rate") for name in (HORIZONTAL, rule)}
        rates = [f"{100 * float(np.mean(list(each.values()))):.2f} %" for each in others.values()]
        remark = f"{rates[0]} of requests violate the objective, {rates[1]} under {rule}"
        return reduction(results.of(HORIZONTAL, figure), results.of(rule, figure), remark)

    return measure


def _long(values: Sequence[float]) -> Sequence[float]:
    if len(values) < _FEWEST:
        raise NotTestable("the learning curve is too short")
    return values


CLAIMS: tuple[Claim[Results], ...] = (
    Claim("horizontal-latency", "horizontal: tail latency ends below the QoS requirement",
          "Results, horizontal", "below", Below(1.0), at_the_end(tail_over_objective(HORIZONTAL)), "× the objective"),
    Claim("horizontal-instances", "horizontal: the number of instances settles",
          "Results, horizontal", "settles", Within(-10.0, 10.0), drift(instances), "% change at the end"),
    Claim("stop-learning", "horizontal: learning may stop at a point, and the requirement goes on holding",
          "Results, horizontal", "stop learning!", AtLeast(90.0), stays_below(HORIZONTAL),
          "% of the last quarter's episodes"),
    Claim("vertical-latency", "vertical: tail latency ends below the QoS requirement",
          "Results, vertical", "below", Below(1.0), at_the_end(tail_over_objective(VERTICAL)), "× the objective"),
    Claim("vertical-cpu", "vertical: the CPU of an instance settles around 1000 to 2000 millicores",
          "Results, vertical", "1000–2000", Within(*reported.MILLICORES), at_the_end(millicores), "millicores"),
    Claim("vertical-settles", "vertical: the CPU of an instance no longer changes at the end",
          "Results, vertical", "settles", Within(-10.0, 10.0), drift(millicores), "% change at the end"),
    Claim("learned-latency", "the learned autoscaler keeps tail latency below the QoS requirement",
          "Deep Q-learning", "below", Below(1.0), tail_latency, "× the objective"),
    Claim("learned-capacity", "a learned autoscaler needs less capacity than the naive CPU threshold",
          "Intelligent scaling", "instead of thresholds", Above(0.0), saved("threshold-cpu", "instance_seconds"),
          "% fewer instance-seconds"),
    Claim("learned-violations", "a learned autoscaler violates the objective less than the naive memory threshold",
          "Intelligent scaling", "instead of thresholds", Above(0.0), saved("threshold-memory", "sla_violation_rate"),
          "% fewer violations"),
)  # fmt: skip
