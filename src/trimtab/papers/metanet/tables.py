"""Table 1 beside the paper's values, and what the paper does not show: every policy everywhere, regret, choices."""

from __future__ import annotations

from collections.abc import Mapping

from trimtab.papers.claim import NotTestable
from trimtab.papers.criterion import Measurement
from trimtab.papers.measure import mean, reduction
from trimtab.papers.metanet import reported
from trimtab.papers.metanet.reported import METANET, SCHEDULERS
from trimtab.papers.metanet.results import (
    BASE,
    COST,
    COST_OF_TASK,
    FIXED,
    GRAPH,
    OBJECTIVE,
    ORACLES,
    OVER_PLUS,
    PLUS,
    PRICE,
    SCHEDULING,
    SHIFT,
    SWITCHING,
    Results,
    Setting,
    place_of,
)
from trimtab.papers.papertable import Cell, PaperTable

SELECTORS = (METANET, GRAPH, PLUS, "select/mab", "select/dqn", *SWITCHING, *ORACLES, *OVER_PLUS)
_TABLE_1 = {
    "cost (USD)": (COST, 1.0, "cost_usd"),
    "of a task (cents)": (COST_OF_TASK, 100.0, None),
    "energy (kWh)": ("energy_kwh", 1.0, "energy_kwh"),
    "response (s)": ("mean_fct_s", 1.0, "response_s"),
    "SLA violations": ("sla_violation_rate", 1.0, "violations"),
    "CPU, active hosts (%)": ("cpu_utilisation_active", 100.0, "cpu"),
    "CPU, all hosts (%)": ("cpu_utilisation", 100.0, None),
}
"""Column → our figure, its scale, the paper's."""
_POLICIES = {
    "core-hour (cents)": (PRICE, 100.0),
    "φ (cents a task)": ("raw_phi", 100.0),
    "objective (cents a core-hour)": (OBJECTIVE, 100.0),
    "energy (kWh)": ("energy_kwh", 1.0),
    "response (s)": ("mean_fct_s", 1.0),
    "violations (%)": ("sla_violation_rate", 100.0),
    "CPU, active (%)": ("cpu_utilisation_active", 100.0),
    "CPU, all (%)": ("cpu_utilisation", 100.0),
    "scheduling (% of cost)": (SCHEDULING, 100.0),
}
_AGAINST = ("random", "round-robin", "first-fit", "cheap-fit")


def all_tables(results: Results) -> list[PaperTable]:
    """The paper's first."""
    wide = [setting for setting in results.runs if not setting[1]]
    return [
        _table_1(results), *(_policies(results, setting) for setting in wide), _schedulers(results), _sweep(results),
        _regret(results), *_choices(results), *_surrogates(results),
    ]  # fmt: skip


def _table_1(results: Results) -> PaperTable:
    rows = {
        policy: tuple(
            _cell(results, BASE, policy, figure, scale, None if paper is None else getattr(printed, paper))
            for figure, scale, paper in _TABLE_1.values()
        )
        for policy, printed in reported.TABLE_1.items()
    }
    length = results.lengths[BASE]
    return PaperTable(
        "table-1", "Table 1: cost, energy, response time, violations, CPU",
        f"Cost: hosts and functions of the whole run ({length / results.interval:g} intervals; the paper: "
        f"{reported.INTERVALS:,}) in USD, and divided by the tasks that ended. The paper does not say what its cost is "
        "the cost of, nor how large its tasks are: compare rows, not scales.",
        "method", tuple(_TABLE_1), rows, (3, 3, 3, 1, 4, 1, 1),
    )  # fmt: skip


def _policies(results: Results, setting: Setting) -> PaperTable:
    rows = {
        policy: tuple(
            _cell(results, setting, policy, figure, scale) for figure, scale in _POLICIES.values()
        )
        for policy in results.runs[setting]
    }  # fmt: skip
    length = results.lengths[setting] / results.interval
    return PaperTable(
        f"policies-{place_of(setting)}", f"Every policy on {setting[0]}",
        f"{length:g} intervals. Core-hour: hosts, functions and the price of violations over the work done, by which "
        "policies are judged; φ: the paper's cost of an interval over the tasks that ended lately, which rewards who "
        "defers work; objective: what the schedulers minimise, hosts, energy and violations. Oracles on fewer seeds.",
        "policy", tuple(_POLICIES), rows, (3, 3, 3, 2, 1, 2, 1, 1, 3),
    )  # fmt: skip


def _schedulers(results: Results) -> PaperTable:
    """The seven against simple assignments."""
    rows = {}
    for policy in SCHEDULERS:
        rows[policy] = tuple(
            _saved(results, setting, policy, rule) for setting in (BASE, SHIFT) for rule in _AGAINST
        )  # fmt: skip
    return PaperTable(
        "schedulers", "The seven schedulers against simple assignments",
        "By how many percent a scheduler's core-hour is cheaper; below zero it is dearer.", "scheduler",
        tuple(f"{rule}, {place_of(setting)}" for setting in (BASE, SHIFT) for rule in _AGAINST),
        rows, 1,
    )  # fmt: skip


def _sweep(results: Results) -> PaperTable:
    found = {reported.RATE: BASE} | {setting[1]: setting for setting in results.runs if setting[1]}
    columns = {f"λ = {rate:g}": setting for rate, setting in sorted(found.items())}
    policies = [policy for policy in results.runs[BASE] if policy not in (*ORACLES, *OVER_PLUS)]
    rows = {
        policy: tuple(_cell(results, setting, policy, PRICE, 100.0) for setting in columns.values())
        for policy in policies
    }
    return PaperTable(
        "sweep", "Load sweep: cost of a core-hour by tasks an interval",
        f"{BASE[0]}, US cents, violations priced. With --quick other loads than {reported.RATE:g} have two seeds.",
        "policy", tuple(columns), rows, 3,
    )  # fmt: skip


def _regret(results: Results) -> PaperTable:
    """How far each policy is above an oracle, and above the best fixed policy of each seed."""
    columns = {
        f"{words}, {place_of(setting)}": (setting, oracle)
        for setting in (BASE, SHIFT)
        for words, oracle in (("above clairvoyant (%)", "clairvoyant"), ("above rollout (%)", "rollout"),
                              ("above clairvoyant over plus (%)", "clairvoyant over plus"),
                              ("above rollout over plus (%)", "rollout over plus"),
                              ("above best fixed of the seed (%)", None))
    }  # fmt: skip
    policies = dict.fromkeys(policy for setting in (BASE, SHIFT) for policy in results.runs[setting])
    rows = {
        policy: tuple(_above(results, setting, policy, oracle) for setting, oracle in columns.values())
        for policy in policies
    }
    return PaperTable(
        "regret", "Regret: cost of a core-hour above that of oracles",
        "The clairvoyant plays every policy ahead with the true arrivals and work, the rollout with what a selector "
        "can know; both on fewer seeds, among the seven, or over the candidates of metanet-plus. The best fixed policy "
        "of a seed is known in hindsight only.",
        "policy", tuple(columns), rows, 1,
    )  # fmt: skip


def _choices(results: Results) -> list[PaperTable]:
    """How often each selector chose each policy."""
    rows: dict[str, Mapping[str, float]] = {}
    for setting in (BASE, SHIFT):
        for policy in SELECTORS:
            if policy in results.runs[setting]:
                rows[f"{policy}, {place_of(setting)}"] = results.shares(setting, policy)
    chosen = sorted({name for shares in rows.values() for name in shares}, key=_place)
    if not chosen:
        return []
    cells = {row: tuple(Cell(100.0 * shares.get(name, 0.0)) for name in chosen) for row, shares in rows.items()}
    return [PaperTable(
        "choices", "How often each policy was selected", "In % of the intervals, over all seeds.", "selector",
        tuple(chosen), cells, 1,
    )]  # fmt: skip


def _surrogates(results: Results) -> list[PaperTable]:
    """MetaNet's feed-forward surrogate beside a graph network over the same [W, H, S]."""
    kinds = {"feed-forward, as published": METANET, "graph network": GRAPH}
    places = [setting for setting in (BASE, SHIFT) if all(each in results.runs[setting] for each in kinds.values())]
    if not places:
        return []
    columns = {
        "core-hour (cents)": (PRICE, 100.0),
        "φ (cents a task)": ("raw_phi", 100.0),
        "violations (%)": ("sla_violation_rate", 100.0),
        "policy chosen most (%)": ("largest_share", 100.0),
    }
    rows = {
        words: tuple(_cell(results, setting, policy, *column) for setting in places for column in columns.values())
        for words, policy in kinds.items()
    }
    heads = tuple(f"{head}, {place_of(setting)}" for setting in places for head in columns)
    return [PaperTable(
        "surrogates", "Another surrogate: a graph network over hosts and tasks",
        "Same data, loss, choice and tuning; the paper names other networks as future work.", "surrogate", heads,
        rows, (3, 3, 2, 1) * len(places),
    )]  # fmt: skip


def _place(policy: str) -> tuple[int, str]:
    """Where a policy stands among the others, variants such as ``cheap-fit(margin=1.25)`` after their name."""
    name = policy.partition("(")[0]
    return FIXED.index(name) if name in FIXED else len(FIXED), policy


def _cell(
    results: Results, setting: Setting, policy: str, figure: str, scale: float, paper: float | None = None
) -> Cell:
    """A figure with its interval; nothing where a policy did not take part or has no such figure."""
    try:
        values = results.figure(setting, policy, figure)
    except NotTestable:
        return Cell(None, paper)
    return _ours(mean({seed: scale * value for seed, value in values.items()}), paper)


def _ours(found: Measurement, paper: float | None = None) -> Cell:
    return Cell(found.value, paper, None if found.low is None or found.high is None else (found.low, found.high))


def _saved(results: Results, setting: Setting, policy: str, rule: str) -> Cell:
    try:
        return _ours(reduction(results.figure(setting, policy, PRICE), results.figure(setting, rule, PRICE)))
    except NotTestable:
        return Cell(None)


def _above(results: Results, setting: Setting, policy: str, oracle: str | None) -> Cell:
    try:
        ours = results.figure(setting, policy, PRICE)
        theirs = best_of_seed(results, setting) if oracle is None else results.figure(setting, oracle, PRICE)
        return Cell(-reduction(ours, theirs).value)
    except NotTestable:
        return Cell(None)


def best_of_seed(results: Results, setting: Setting) -> dict[int, float]:
    """The cost of a core-hour under the best fixed policy of each seed."""
    there = [results.figure(setting, name, PRICE) for name in FIXED if name in results.runs[setting]]
    return {seed: min(each[seed] for each in there) for seed in there[0]}
