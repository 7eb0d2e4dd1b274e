"""Every claim of the slides: the rule that decides it, beside how it is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trimtab.papers.autoscale import reported
from trimtab.papers.autoscale.experiments import CPU, HORIZONTAL, INSTANCES, LATENCY, VERTICAL, Results
from trimtab.papers.claim import Claim, NotTestable
from trimtab.papers.criterion import Above, Below, Measurement, Within
from trimtab.papers.learned import NOT_TRAINED
from trimtab.papers.measure import mean, reduction

Measure = Callable[[Results], Measurement]


def last_tenth(policy: str, names: Sequence[str], scale: float) -> Measure:
    """The mean of a figure of the learning curve over the last tenth of the episodes."""

    def measure(results: Results) -> Measurement:
        values = results.learned[policy].column(*names)
        part = values[-max(2, len(values) // 10) :]
        return mean([scale * value for value in part], f"the first tenth: {_first(values, scale):.4g}")

    return measure


def over_objective(policy: str) -> Measure:
    """Tail latency at the end of training over the objective: 1 is the objective."""

    def measure(results: Results) -> Measurement:
        return last_tenth(policy, LATENCY, 1.0 / results.objective)(results)

    return measure


def drift(policy: str, names: Sequence[str]) -> Measure:
    """Change of a figure from the third to the last quarter of training, in percent of the last."""

    def measure(results: Results) -> Measurement:
        third, last = _quarters(results.learned[policy].column(*names))
        if last == 0.0:
            raise NotTestable("the figure is zero at the end of training: no ratio describes its change")
        remark = f"{third:.4g} in the third quarter, {last:.4g} in the last"
        return Measurement(100.0 * (last - third) / abs(last), remark=remark)

    return measure


def still_learning(policy: str) -> Measure:
    """The reward's change from the third to the last quarter, in percent of the whole curve's range."""

    def measure(results: Results) -> Measurement:
        rewards = results.learned[policy].column("reward")
        third, last = _quarters(rewards)
        smooth = [float(np.mean(part)) for part in np.array_split(rewards, min(20, len(rewards)))]
        reach = max(smooth) - min(smooth)
        if reach == 0.0:
            raise NotTestable("the reward never changed")
        return Measurement(100.0 * (last - third) / reach, remark=f"from {smooth[0]:.4g} at first to {smooth[-1]:.4g}")

    return measure


def tail_latency(results: Results) -> Measurement:
    """99th percentile on unseen seeds over the objective."""
    found = results.of(HORIZONTAL, "p99_fct_s")
    return mean({seed: value / results.objective for seed, value in found.items()}, "on seeds that training never saw")


def saved(rule: str, figure: str) -> Measure:
    """By how many percent a figure of the learned autoscaler is below that of a naive rule."""

    def measure(results: Results) -> Measurement:
        others = {name: results.of(name, "sla_violation_rate") for name in (HORIZONTAL, rule)}
        rates = [f"{100 * float(np.mean(list(each.values()))):.2f} %" for each in others.values()]
        remark = f"{rates[0]} of requests violate the objective, {rates[1]} under {rule}"
        return reduction(results.of(HORIZONTAL, figure), results.of(rule, figure), remark)

    return measure


def _first(values: Sequence[float], scale: float) -> float:
    return scale * float(np.mean(values[: max(1, len(values) // 10)]))


def _quarters(values: Sequence[float]) -> tuple[float, float]:
    """Means of the third and the last quarter."""
    if len(values) < 8:
        raise NotTestable("the learning curve is too short" if values else NOT_TRAINED)
    parts = np.array_split(np.asarray(values, dtype=np.float64), 4)
    return float(parts[2].mean()), float(parts[3].mean())


CLAIMS: tuple[Claim[Results], ...] = (
    Claim("horizontal-latency", "horizontal: tail latency ends below the QoS requirement",
          "Results, horizontal", "below", Below(1.0), over_objective(HORIZONTAL), "× the objective"),
    Claim("horizontal-instances", "horizontal: the number of instances settles",
          "Results, horizontal", "settles", Within(-10.0, 10.0), drift(HORIZONTAL, INSTANCES), "% change at the end"),
    Claim("stop-learning", "horizontal: there is a point at which to stop learning, more brings nothing",
          "Results, horizontal", "stop learning!", Within(-10.0, 10.0), still_learning(HORIZONTAL),
          "% of the curve's range"),
    Claim("vertical-latency", "vertical: tail latency ends below the QoS requirement",
          "Results, vertical", "below", Below(1.0), over_objective(VERTICAL), "× the objective"),
    Claim("vertical-cpu", "vertical: the CPU of an instance settles around 1000 to 2000 millicores",
          "Results, vertical", "1000–2000", Within(*reported.MILLICORES), last_tenth(VERTICAL, CPU, 1000.0),
          "millicores"),
    Claim("vertical-settles", "vertical: the CPU of an instance no longer changes at the end",
          "Results, vertical", "settles", Within(-10.0, 10.0), drift(VERTICAL, CPU), "% change at the end"),
    Claim("learned-latency", "the learned autoscaler keeps tail latency below the QoS requirement",
          "Deep Q-learning", "below", Below(1.0), tail_latency, "× the objective"),
    Claim("learned-capacity", "a learned autoscaler needs less capacity than the naive CPU threshold",
          "Intelligent scaling", "instead of thresholds", Above(0.0), saved("threshold-cpu", "instance_seconds"),
          "% fewer instance-seconds"),
    Claim("learned-violations", "a learned autoscaler violates the objective less than the naive memory threshold",
          "Intelligent scaling", "instead of thresholds", Above(0.0), saved("threshold-memory", "sla_violation_rate"),
          "% fewer violations"),
)  # fmt: skip
