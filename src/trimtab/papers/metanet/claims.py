"""Every claim of the MetaNet paper, and ours on top of it: the rule that decides it, beside how it is measured.

The abstract's "up to 11 % and 13 %" are MetaNet's cost and violations in Table 1 against the best other row of that
column. So every claim is decided against the best other row, chosen in hindsight on the very seeds of the comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trimtab.papers.claim import Claim, NotTestable
from trimtab.papers.criterion import Above, AtLeast, Effect, Measurement, Within
from trimtab.papers.measure import difference, reduction
from trimtab.papers.metanet import reported
from trimtab.papers.metanet.reported import BASELINES, METANET, SCHEDULERS
from trimtab.papers.metanet.results import (
    BASE,
    COST,
    FIXED,
    OBJECTIVE,
    PLUS,
    PRICE,
    RULES,
    SCHEDULING,
    SHIFT,
    SHORT,
    SWITCHING,
    Results,
    Setting,
    place_of,
)

_USED = 0.05
"""Share of the intervals from which on a policy counts as used."""
_HIGH = 5.0
"""Percent of the cost from which on we call the price of scheduling high; the paper gives no number."""

Measure = Callable[[Results], Measurement]


def lower(setting: Setting, ours: str, others: Sequence[str], figure: str) -> Measure:
    """By how many percent a policy's figure is below that of the best of the others."""

    def measure(results: Results) -> Measurement:
        mine = results.figure(setting, ours, figure)
        best = results.best(setting, others, figure)
        theirs = results.figure(setting, best, figure)
        remark = f"{np.mean(list(mine.values())):.4g} against {np.mean(list(theirs.values())):.4g} of {best}"
        if not any(theirs.values()):
            return Measurement(0.0, remark=f"{best} is at zero: nothing is below that")
        return reduction(mine, theirs, remark + _cheapest_rule(results, setting, figure, others))

    return measure


def _cheapest_rule(results: Results, setting: Setting, figure: str, others: Sequence[str]) -> str:
    """Beside the rows of Table 1: how the best rule does that the paper does not have."""
    if figure != PRICE or tuple(others) != BASELINES:
        return ""
    best = results.best(setting, RULES, figure)
    return f"; {best}, which is not in Table 1: {results.mean(setting, best, figure):.4g}"


def cpu_above(results: Results) -> Measurement:
    """MetaNet's CPU utilisation of active hosts minus that of the best other row, in points."""
    figure = "cpu_utilisation_active"
    best = results.best(BASE, BASELINES, figure, high=True)
    ours, theirs = (100.0 * results.mean(BASE, policy, figure) for policy in (METANET, best))
    remark = f"{ours:.1f} % against {theirs:.1f} % of {best}"
    return difference(results.figure(BASE, METANET, figure), results.figure(BASE, best, figure), 100.0, remark)


def least_lead_of_seven(results: Results) -> Measurement:
    """Of the seven schedulers against random and round-robin assignment: the least percentage that any saves."""
    leads = {
        (name, rule): reduction(results.figure(BASE, name, OBJECTIVE), results.figure(BASE, rule, OBJECTIVE))
        for name in SCHEDULERS
        for rule in ("random", "round-robin")
    }
    name, rule = min(leads, key=lambda pair: leads[pair].bounds[0])
    found = leads[name, rule]
    cheapest = results.best(BASE, RULES, OBJECTIVE)
    limit = results.mean(BASE, cheapest, OBJECTIVE)
    ahead = [each for each in SCHEDULERS if results.mean(BASE, each, OBJECTIVE) < limit]
    remark = f"least: {name} against {rule}; below the best rule, {cheapest}: {', '.join(ahead) or 'none'}"
    return Measurement(found.value, found.low, found.high, remark)


def most_used(setting: Setting, policy: str) -> Measure:
    """Percent of the intervals in which a selector chose the policy that it chose most."""

    def measure(results: Results) -> Measurement:
        shares = _chosen(results, setting, policy)
        words = ", ".join(f"{name} {100 * share:.0f} %" for name, share in list(shares.items())[:4])
        return Measurement(100.0 * next(iter(shares.values())), remark=words)

    return measure


def policies_used(results: Results) -> Measurement:
    """How many policies MetaNet chose in at least 5 % of the intervals."""
    shares = _chosen(results, BASE, METANET)
    words = ", ".join(f"{name} {100 * share:.0f} %" for name, share in list(shares.items())[:4])
    return Measurement(float(sum(share >= _USED for share in shares.values())), remark=words)


def same_three(results: Results) -> Measurement:
    """How many of the paper's three most selected policies are among our three."""
    ours = list(_chosen(results, BASE, METANET))[:3]
    return Measurement(float(len(set(ours) & set(reported.MOST_SELECTED))), remark=f"ours: {', '.join(ours)}")


def scheduling_share(results: Results) -> Measurement:
    """The functions' share of the cost, in percent, of the scheduler for which it is highest."""
    dearest = results.best(BASE, SCHEDULERS, SCHEDULING, high=True)
    return Measurement(100.0 * results.mean(BASE, dearest, SCHEDULING), remark=f"highest: {dearest}")


def worst_lead_of_plus(results: Results) -> Measurement:
    """Over all scenarios that were run: the least lead of metanet-plus over the best policy without a selector."""
    leads = {setting: lower(setting, PLUS, FIXED, PRICE)(results) for setting in results.runs if not setting[1]}
    worst = min(leads, key=lambda setting: leads[setting].value)
    found = leads[worst]
    every = ", ".join(f"{place_of(setting)} {lead.value:+.1f}" for setting, lead in leads.items())
    return Measurement(found.value, found.low, found.high, f"least on {place_of(worst)}; percent by scenario: {every}")


def _chosen(results: Results, setting: Setting, policy: str) -> dict[str, float]:
    found = results.shares(setting, policy)
    if not found:
        raise NotTestable(f"{policy} chose nothing")
    return found


_PRICED = "USD per core-hour of work, violations priced"

CLAIMS: tuple[Claim[Results], ...] = (
    Claim("lowest-cost", f"MetaNet has the lowest cost of the ten methods ({_PRICED})",
          "Table 1", "the lowest", Above(0.0), lower(BASE, METANET, BASELINES, PRICE), "% below the best other row"),
    Claim("lowest-cost-shift", "the same where load and mix of applications shift",
          "Section 4, “non-stationary”", "the lowest", Above(0.0), lower(SHIFT, METANET, BASELINES, PRICE),
          "% below the best other row"),
    Claim("cost-11", "execution cost (hosts and functions) is 11 % lower",
          "Abstract, Table 1", reported.COST_LOWER, Effect(reported.COST_LOWER),
          lower(BASE, METANET, BASELINES, COST), "% below the best other row"),
    Claim("energy-43", "energy is 43 % lower; by Table 1 it is 30.5 % against the best other row",
          "Abstract", reported.ENERGY_LOWER, Effect(reported.ENERGY_LOWER),
          lower(BASE, METANET, BASELINES, "energy_kwh"), "% below the best other row"),
    Claim("sla-13", "violations of the service level agreement are 13 % fewer",
          "Abstract, Table 1", reported.VIOLATIONS_LOWER, Effect(reported.VIOLATIONS_LOWER),
          lower(BASE, METANET, BASELINES, "sla_violation_rate"), "% below the best other row"),
    Claim("lowest-response", "MetaNet has the lowest response time",
          "Section 4, Table 1", "the lowest", Above(0.0), lower(BASE, METANET, BASELINES, "mean_fct_s"),
          "% below the best other row"),
    Claim("highest-cpu", "MetaNet has the highest CPU utilisation (of hosts that are active)",
          "Section 4, Table 1", "the highest", Above(0.0), cpu_above, "points above the best other row"),
    Claim("below-mab", f"MetaNet is better than a bandit that selects ({_PRICED})",
          "Section 4", "MAB performs poorly", Above(0.0), lower(BASE, METANET, ["select/mab"], PRICE), "% below MAB"),
    Claim("below-dqn", f"MetaNet is better than a deep Q-network that selects ({_PRICED})",
          "Section 4", "DQN performs poorly", Above(0.0), lower(BASE, METANET, ["select/dqn"], PRICE), "% below DQN"),
    Claim("below-mab-shift", "the same against the bandit where load and mix shift",
          "Section 4, “environment dynamism”", "MAB performs poorly", Above(0.0),
          lower(SHIFT, METANET, ["select/mab"], PRICE), "% below MAB"),
    Claim("below-dqn-shift", "the same against the deep Q-network where load and mix shift",
          "Section 4, “volatile settings”", "DQN performs poorly", Above(0.0),
          lower(SHIFT, METANET, ["select/dqn"], PRICE), "% below DQN"),
    Claim("switches", "MetaNet changes the scheduler as cost estimates change",
          "Fig. 3", "three shown", AtLeast(2), policies_used, "policies chosen in ≥ 5 % of the intervals"),
    Claim("same-three", "the three most selected policies are ARIMA+ACO, GOBI and GOSH",
          "Fig. 3", 3.0, AtLeast(3), same_three, "of the three among ours"),
    Claim("scheduling-cost", "sophisticated schedulers imply high scheduling costs",
          "Abstract", "high", AtLeast(_HIGH), scheduling_share, "% of the cost, the dearest of the seven"),
    Claim("seven-beat-random", "each of the seven schedulers beats random and round-robin assignment on its objective",
          "Section 2", "outperform", Above(0.0), least_lead_of_seven, "% below, the least of any"),
    Claim("plus-lowest-cost-shift",
          f"metanet-plus (ours) beats every fixed scheduler and rule on a load that shifts ({_PRICED})",
          "ours", "the lowest", Above(0.0), lower(SHIFT, PLUS, FIXED, PRICE), "% below the best of them"),
    Claim("plus-2-shift", "and does so by at least 2 %",
          "ours", "≥ 2", AtLeast(2.0), lower(SHIFT, PLUS, FIXED, PRICE), "% below the best of them"),
    Claim("plus-4-short", "metanet-plus (ours) is at least 4 % below every fixed scheduler and rule on short tasks",
          "ours", "≥ 4", AtLeast(4.0), lower(SHORT, PLUS, FIXED, PRICE), "% below the best of them"),
    Claim("plus-never-behind",
          "metanet-plus (ours) is on no scenario more than 1 % behind the best fixed scheduler or rule",
          "ours", "≥ −1", AtLeast(-1.0), worst_lead_of_plus, "% below the best of them, the least of all scenarios"),
    Claim("plus-below-selectors-shift",
          "metanet-plus (ours) is at least 3 % below selection at random, in turn, by MAB and by DQN on a load that "
          "shifts", "ours", "≥ 3", AtLeast(3.0),
          lower(SHIFT, PLUS, [*SWITCHING, "select/mab", "select/dqn"], PRICE), "% below the best of them"),
    Claim("switches-shift", "metanet-plus (ours) really switches on a load that shifts",
          "ours", "≤ 90", Within(0.0, 90.0), most_used(SHIFT, PLUS), "% of the intervals, the policy chosen most"),
)  # fmt: skip
