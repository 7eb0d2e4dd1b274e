"""What is kept of the runs, and the figures that the claims are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trimtab.papers.claim import NotTestable
from trimtab.papers.metanet import reported
from trimtab.policies.assign.objective import ENERGY_PRICE
from trimtab.report.summary import Figures, figures_of
from trimtab.sim.outcome import Outcome

RULES = ("random", "round-robin", "first-fit", "best-fit", "least-loaded", "cheap-fit")
"""Assignments that are not in the paper."""
TUNED = (
    "best-fit(margin=1.25)",
    "cheap-fit(margin=1,late_price=0)",
    "cheap-fit(late_price=0.005)",
    "cheap-fit(late_price=0.02)",
)
"""The rules that have parameters, with others than the usual ones: which are best depends on load and deadlines."""
FIXED = (*reported.SCHEDULERS, *RULES, *TUNED)
"""Policies that plan, each for a whole run."""
PLUS = "metanet-plus"
GRAPH = "metanet-graph"
"""MetaNet with a graph network as its surrogate: the paper's future work."""
SWITCHING = ("select/random", "select/round-robin")
"""Controls: selectors that do not look."""
ORACLES = ("clairvoyant", "rollout")
"""The first knows the future; the second what a selector can know. Both simulate every policy before they choose."""

OVER_PLUS = {f"{name} over plus": name for name in ("select/random", *ORACLES)}
"""The same with the candidates and the fallback of metanet-plus: what there was to gain for it."""

Setting = tuple[str, float]
"""A scenario, and tasks an interval; 0 where they are the scenario's own."""
BASE: Setting = ("metanet-azure100", 0.0)
SHIFT: Setting = ("metanet-shift", 0.0)
SHORT: Setting = ("metanet-short", 0.0)

PRICE = "usd_per_core_hour"
"""What policies are judged by: hosts, functions and violations, over the work done."""
COST, COST_OF_TASK, OBJECTIVE, SCHEDULING = "paper_cost_usd", "paper_cost_of_task_usd", "objective", "scheduling_share"
"""Figures that follow from those of a run: see :func:`own_figures`."""


@dataclass(frozen=True)
class Sample:
    """What is kept of a run."""

    figures: Figures
    bands: list[tuple[float, str]] = field(default_factory=list)
    """Which policy a selector used, and from when."""
    estimates: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    """What a selector that predicts expected each policy to cost, and when."""


def sample(outcome: Outcome) -> Sample:
    """The figures of a run, those of the paper among them, and a selector's choices."""
    figures = figures_of(outcome)
    return Sample(figures | own_figures(figures), list(outcome.bands), list(outcome.estimates))


def own_figures(figures: Figures) -> Figures:
    """The paper's cost (hosts and functions, no price of violations) of a run and of a task; what the schedulers
    minimise, in USD per core-hour of work; the functions' share of the cost."""
    cost = figures["hosts_usd"] + figures["scheduling_usd"]
    objective = figures["hosts_usd"] + figures["violations_usd"] + ENERGY_PRICE * figures["energy_kwh"]
    return {
        COST: cost,
        COST_OF_TASK: cost / max(figures["completed"], 1.0),
        OBJECTIVE: objective / max(figures["work_done"] / 3600.0, 1e-9),
        SCHEDULING: figures["scheduling_usd"] / max(figures["cost_usd"], 1e-12),
    }


@dataclass(frozen=True)
class Results:
    """All runs."""

    seeds: tuple[int, ...]
    runs: dict[Setting, dict[str, dict[int, Sample]]]
    missing: dict[tuple[str, str], str] = field(default_factory=dict)
    """Scenario and policy that could not take part in it, and why."""
    lengths: dict[Setting, float] = field(default_factory=dict)
    """Seconds in which tasks arrive."""
    interval: float = 10.0
    learned: tuple[str, ...] = ()
    """Where the trained policies came from."""

    def of(self, setting: Setting, policy: str) -> dict[int, Sample]:
        """The runs of a policy; some settings are left out to be quick, and a learned policy may be missing."""
        if setting not in self.runs:
            raise NotTestable(f"{title_of(setting)} was not run, to be quick")
        if policy not in self.runs[setting]:
            raise NotTestable(self.missing.get((setting[0], policy), f"{policy} was not run there, to be quick"))
        return self.runs[setting][policy]

    def figure(self, setting: Setting, policy: str, name: str) -> dict[int, float]:
        """A figure by seed."""
        found = {
            seed: float(each.figures[name]) for seed, each in self.of(setting, policy).items() if name in each.figures
        }
        if not found:
            raise NotTestable(f"{policy} has no figure {name!r}")
        return found

    def mean(self, setting: Setting, policy: str, name: str) -> float:
        """The mean over seeds."""
        return float(np.mean(list(self.figure(setting, policy, name).values())))

    def best(self, setting: Setting, policies: Sequence[str], name: str, *, high: bool = False) -> str:
        """The policy with the best mean of a figure: in hindsight, on the very seeds of the comparison."""
        choose = max if high else min
        return choose(policies, key=lambda policy: self.mean(setting, policy, name))

    def shares(self, setting: Setting, policy: str) -> dict[str, float]:
        """Share of the intervals in which a selector chose each policy, over all seeds, most chosen first."""
        runs = self.of(setting, policy)
        found: dict[str, float] = {}
        for each in runs.values():
            for name, share in shares_of(each.bands, self.lengths[setting]).items():
                found[name] = found.get(name, 0.0) + share / len(runs)
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def title_of(setting: Setting) -> str:
    """A setting in words."""
    scenario, rate = setting
    return f"{scenario} at {rate:g} tasks an interval" if rate else scenario


def place_of(setting: Setting) -> str:
    """The short name of a setting's scenario."""
    return setting[0].removeprefix("metanet-")


def shares_of(bands: Sequence[tuple[float, str]], length: float) -> dict[str, float]:
    """Share of the time up to ``length`` that each policy was in use."""
    ends = [moment for moment, _ in bands[1:]] + [length]
    found: dict[str, float] = {}
    for (start, name), end in zip(bands, ends):
        found[name] = found.get(name, 0.0) + max(0.0, min(end, length) - start) / length
    return {name: share for name, share in found.items() if share > 0.0}
