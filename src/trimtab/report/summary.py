"""From the runs of all policies to ``summary.json`` and ``timings.json``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trimtab.report.field import FIELDS
from trimtab.report.groups import applications, functions
from trimtab.report.statistics import jain, paired_change, slowdowns
from trimtab.sim.outcome import COMPLETED, FAILED, REJECTED, Outcome

Figures = dict[str, float]

_COUNTS = frozenset(
    (
        "requests",
        "completed",
        "rejected",
        "failed",
        "late",
        "starts_stops",
        "migrations",
        "cold_starts",
        "waiting_tasks",
    )
)
"""Whole numbers: shown as such where the mean over seeds is one."""


def figures_of(outcome: Outcome) -> Figures:
    """All figures of one run; what the scenario does not have is absent."""
    figures = _counts(outcome) | _times(outcome) | _shares(outcome)
    figures |= {name: float(value) for name, value in outcome.meters.items() if math.isfinite(value)}
    known = {name: figures[name] for name in FIELDS if name in figures}
    return known | {name: figures[name] for name in sorted(figures.keys() - known.keys())}


def summarise(
    scenario_name: str,
    decision: str,
    baseline: str | None,
    outcomes: Sequence[Outcome],
    oracles: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """The content of ``summary.json``: means over seeds, and changes against the baseline.

    It holds nothing that was measured with a clock and its keys have a fixed order, so that the same
    runs always give the same bytes.
    """
    runs: dict[str, dict[int, Figures]] = {}
    for outcome in outcomes:
        runs.setdefault(outcome.policy, {})[outcome.seed] = figures_of(outcome)
    base = runs.get(baseline) if baseline is not None else None
    summary: dict[str, Any] = {
        "scenario": scenario_name,
        "seeds": sorted({outcome.seed for outcome in outcomes}),
        "baseline": baseline,
        "decision": decision,
        "policies": {name: policy_summary(seeds, base, name in oracles) for name, seeds in runs.items()},
    }
    if any(outcome.has_streams for outcome in outcomes):
        summary["applications"] = applications(outcomes)
    else:
        summary["functions"] = functions(outcomes, baseline)
    notes = sorted({f"{outcome.policy}: {note}" for outcome in outcomes for note in outcome.notes})
    if notes:
        summary["notes"] = notes
    return rounded(summary)  # type: ignore[no-any-return]


def policy_summary(
    runs: Mapping[int, Figures], baseline: Mapping[int, Figures] | None, oracle: bool = False
) -> dict[str, Any]:
    """One policy's entry: the mean of each figure over seeds, and ``vs_baseline``."""
    names = list(dict.fromkeys(name for figures in runs.values() for name in figures))
    result: dict[str, Any] = {name: _mean(name, runs) for name in names}
    if oracle:
        result["oracle"] = True
    if baseline is not None:
        result["vs_baseline"] = _against(names, runs, baseline)
    return result


def timings(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Wall-clock figures by policy, over all its seeds: the only ones that differ from run to run."""
    result: dict[str, dict[str, float]] = {}
    for policy in dict.fromkeys(outcome.policy for outcome in outcomes):
        runs = [outcome for outcome in outcomes if outcome.policy == policy]
        wall = sum(run.wall_seconds for run in runs)
        decisions = sum(run.decisions for run in runs)
        entry = {"wall_s": wall}
        if decisions:
            entry = {"decision_us": sum(run.decision_seconds for run in runs) / decisions * 1e6} | entry
        if wall > 0:
            entry["requests_per_s"] = sum(len(run.arrival) for run in runs) / wall
        result[policy] = rounded(entry)
    return result


def with_timings(summary: Mapping[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The summary with ``timings`` inside, as ``--json`` alone writes it."""
    return {**summary, "timings": timings(outcomes)}


def rounded(value: Any, digits: int = 10) -> Any:
    """The same structure with floats cut to significant digits, so that noise in the last bit of a
    sum never shows."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, Mapping):
        return {key: rounded(entry, digits) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry, digits) for entry in value]
    return value


def _counts(outcome: Outcome) -> Figures:
    status = outcome.status
    return {
        "requests": len(status),
        "completed": int(np.count_nonzero(status == COMPLETED)),
        "rejected": int(np.count_nonzero(status == REJECTED)),
        "failed": int(np.count_nonzero(status == FAILED)),
        "late": int(np.count_nonzero(outcome.late & (status == COMPLETED))),
    }


def _times(outcome: Outcome) -> Figures:
    answered = outcome.status == COMPLETED
    fct = outcome.fct[answered]
    if len(fct) == 0:
        return {}
    p50, p95, p99 = np.quantile(fct, [0.5, 0.95, 0.99])
    figures = {
        "mean_fct_s": float(fct.mean()),
        "p50_fct_s": float(p50),
        "p95_fct_s": float(p95),
        "p99_fct_s": float(p99),
        "jain_fairness": jain(slowdowns(fct, outcome.function[answered])),
    }
    # From the first arrival to the last answer: the meters' makespan may include the warm-up, whose
    # requests are not among the columns.
    span = float(outcome.completion[answered].max() - outcome.arrival.min())
    if span > 0:
        figures["throughput_rps"] = len(fct) / span
    return figures


def _shares(outcome: Outcome) -> Figures:
    requests = len(outcome.status)
    if requests == 0:
        return {}
    answered = outcome.status == COMPLETED
    success = int(np.count_nonzero(answered & ~outcome.late & outcome.accurate))
    shares = {"success_rate": success / requests}
    if outcome.has_deadline or outcome.has_streams:
        shares["sla_violation_rate"] = (requests - success) / requests
    if "cold_starts" in outcome.meters or outcome.cold.any():
        accepted = int(np.count_nonzero(outcome.status != REJECTED))
        shares["cold_start_rate"] = int(np.count_nonzero(outcome.cold)) / max(accepted, 1)
    return shares


def _mean(name: str, runs: Mapping[int, Figures]) -> float | int:
    values = [figures[name] for _, figures in sorted(runs.items()) if name in figures]
    mean = math.fsum(values) / len(values)
    whole = all(float(value).is_integer() for value in values) and mean.is_integer()
    return int(mean) if whole and name in _COUNTS else mean


def _against(
    names: Sequence[str], runs: Mapping[int, Figures], baseline: Mapping[int, Figures]
) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    for name in names:
        change = paired_change(_by_seed(name, runs), _by_seed(name, baseline))
        if change is None:
            continue
        result[name] = {"change": change.change}
        if change.low is not None:
            result[name]["ci95"] = [change.low, change.high]
    return result


def _by_seed(name: str, runs: Mapping[int, Figures]) -> dict[int, float]:
    return {seed: figures[name] for seed, figures in runs.items() if name in figures}
