"""``python -m benchmarks.placement``: placement policies on FaaSRank's workloads M1 to M10, paired by seed.

Mean completion time over hashing's, averaged over the ten workloads; then how far ``rank`` lies below each
other policy, with 95 % intervals over seeds, and on which workload it does worst against it. With ``--trace``
on the functions of an Azure 2019 trace instead: every second function, the second half of the time.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.policies import registry
from trimtab.report.statistics import t_interval
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import FaaSRankSpec
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload
from trimtab.workload.replace import with_trace
from trimtab.workload.table import Workload

WORKLOADS = tuple(f"faasrank-m{number}" for number in range(1, 11))
POLICIES = ("hashing", "warm-first", "static-rank", "shortest-completion", "drain-ahead", "rank")
SIMPLE = ("warm-first", "static-rank", "shortest-completion")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """One block of the table: which invokers, how many, how much load on each."""

    model: str = "P"
    load: float = 1.0
    hosts: int = 10

    def scenarios(self) -> list[Scenario]:
        """The ten workloads; calls grow with hosts and load, the time stays."""
        return [self._scenario(name) for name in WORKLOADS]

    def _scenario(self, name: str) -> Scenario:
        spec = load_scenario(name).workload
        assert isinstance(spec, FaaSRankSpec)
        calls = round(spec.calls * self.load * self.hosts / 10)
        return load_scenario(name, (f"model={self.model}", f"workload.calls={calls}", f"hosts.0.count={self.hosts}"))

    def workload(self, scenario: Scenario, seed: int) -> Workload:
        """The requests of a seed."""
        return build_workload(scenario, seed)


@dataclass(frozen=True)
class TraceSetting(Setting):
    """Functions of an Azure 2019 trace, those of the trace's first half of time left to whoever wants to train."""

    trace: str = ""

    def scenarios(self) -> list[Scenario]:
        """The AWS cluster under the trace."""
        return [with_trace(load_scenario("faasrank-aws", (f"hosts.0.count={self.hosts}",)), self.trace)]

    def workload(self, scenario: Scenario, seed: int) -> Workload:
        """Every second function, in the second half of the time."""
        whole = build_workload(scenario, seed)
        half = whole.duration / 2
        kept = (whole.function % 2 == 1) & (whole.arrival >= half)
        return replace(
            whole, arrival=whole.arrival[kept] - half, function=whole.function[kept], work=whole.work[kept],
            duration=half,
        )  # fmt: skip


def measure(setting: Setting, policies: dict[str, Any], seeds: range) -> dict[str, Floats]:
    """Mean completion time by policy: workloads × seeds."""
    scenarios = setting.scenarios()
    times = {name: np.zeros((len(scenarios), len(seeds))) for name in policies}
    for row, scenario in enumerate(scenarios):
        for column, seed in enumerate(seeds):
            workload = setting.workload(scenario, seed)
            for name, policy in policies.items():
                simulation = Simulation(scenario, workload, seed, place=policy)
                simulation.advance()
                times[name][row, column] = np.mean(simulation.core.results["completion"] - workload.arrival)
    return times


def relative(times: Floats, others: Floats) -> tuple[float, tuple[float, float], float]:
    """How far ``times`` lie below ``others``: mean over workloads, its interval over seeds, the worst workload."""
    below = 1.0 - times / others.mean(axis=1, keepdims=True) - (1.0 - others / others.mean(axis=1, keepdims=True))
    interval = t_interval(below.mean(axis=0))
    return float(below.mean()), interval or (math.nan, math.nan), float(below.mean(axis=1).min())


def show(setting: Setting, times: dict[str, Floats]) -> None:
    """Print one block."""
    print(f"\n{setting}")
    base, ours = times["hashing"].mean(axis=1), times["rank"]
    best = min(
        (name for name in SIMPLE if name in times), key=lambda name: float((times[name].mean(axis=1) / base).mean())
    )
    for name, values in times.items():
        line = f"  {name:20} {float((values.mean(axis=1) / base).mean()):.3f} of hashing"
        if name != "rank":
            mean, (low, high), worst = relative(ours, values)
            line += f"   rank lies {mean:6.1%} [{low:.1%}, {high:.1%}] below it, worst workload {worst:6.1%}"
        print(line + ("   (best simple rule)" if name == best else ""), flush=True)


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--models", default="P,G,A")
    parser.add_argument("--load", type=float, default=1.0)
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--rank", default="rank", help="the shipped policy, or the folder of a trained one")
    parser.add_argument("--trace", help="an Azure 2019 folder in the place of M1 to M10")
    parser.add_argument("--policies", default=",".join(POLICIES), help="with hashing, a simple rule and rank")
    given = parser.parse_args()
    names, seeds = given.policies.split(","), range(1, given.seeds + 1)
    policies = {name: registry.load("place", given.rank if name == "rank" else name) for name in names}
    settings = [Setting(model, given.load, given.hosts) for model in given.models.split(",")]
    if given.trace is not None:
        settings = [TraceSetting("trace", hosts=given.hosts, trace=given.trace)]
    for setting in settings:
        show(setting, measure(setting, policies, seeds))


if __name__ == "__main__":
    main()
