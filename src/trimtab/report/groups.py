"""Tables by function (FaaSRank's Table IV) and by application (ASET's Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.sim.outcome import COMPLETED, FAILED, REJECTED, Outcome

MOST_FUNCTIONS = 100
"""A trace may have tens of thousands of functions; the most called ones are tabled."""

PARTS = ("success", "late", "inaccurate", "failed", "rejected")
"""What becomes of a query; the shares of an application add up to 1."""


def functions(outcomes: Sequence[Outcome], baseline: str | None) -> dict[str, Any]:
    """Mean completion time by function and policy, over all seeds, and normalised to the baseline.

    ``{function: {"requests": …, "policies": {policy: {"mean_fct_s": …, "normalised": …}}}}``
    """
    totals = {policy: _totals(runs) for policy, runs in _by_policy(outcomes).items()}
    base = totals.get(baseline) if baseline is not None else None
    calls = (base or next(iter(totals.values())))["requests"] if totals else {}
    chosen = sorted(calls, key=lambda name: (-calls[name], name))[:MOST_FUNCTIONS]
    result: dict[str, Any] = {}
    for name in (name for name in calls if name in set(chosen)):
        entries: dict[str, dict[str, float]] = {}
        for policy, total in totals.items():
            if total["completed"].get(name, 0) == 0:
                continue
            mean = total["seconds"][name] / total["completed"][name]
            entries[policy] = {"mean_fct_s": mean}
            if base is not None and base["seconds"].get(name, 0) > 0:
                entries[policy]["normalised"] = mean / (base["seconds"][name] / base["completed"][name])
        result[name] = {"requests": calls[name], "policies": entries}
    return result


def applications(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """What became of the queries of each application under each policy, as shares of its queries.

    ``{application: {policy: {"success": …, "late": …, "inaccurate": …, "failed": …, "rejected": …}}}``
    """
    result: dict[str, Any] = {}
    for policy, runs in _by_policy(outcomes).items():
        counts = np.sum([parts_by_function(run) for run in runs], axis=0)
        for index, name in enumerate(runs[0].functions):
            total = float(np.sum(counts[:, index]))
            if total > 0:
                shares = {part: float(counts[row, index]) / total for row, part in enumerate(PARTS)}
                result.setdefault(name, {})[policy] = shares
    return result


def part_of(outcome: Outcome) -> npt.NDArray[np.int64]:
    """The index into ``PARTS`` of every request."""
    parts = np.zeros(len(outcome.status), dtype=np.int64)
    answered = outcome.status == COMPLETED
    parts[answered & ~outcome.accurate] = 2
    parts[answered & outcome.late] = 1
    parts[outcome.status == FAILED] = 3
    parts[outcome.status == REJECTED] = 4
    return parts


def parts_by_function(outcome: Outcome) -> npt.NDArray[np.int64]:
    """Requests by part (row) and function (column)."""
    width = len(outcome.functions)
    flat = np.bincount(part_of(outcome) * width + outcome.function, minlength=len(PARTS) * width)
    return flat.reshape(len(PARTS), width)


def _by_policy(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    runs: dict[str, list[Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.seed):
        runs.setdefault(outcome.policy, []).append(outcome)
    order = dict.fromkeys(outcome.policy for outcome in outcomes)
    return {policy: runs[policy] for policy in order}


def _totals(runs: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Requests, answers and seconds by function name; seeds may differ in their functions."""
    result: dict[str, dict[str, float]] = {"requests": {}, "completed": {}, "seconds": {}}
    for run in runs:
        width = len(run.functions)
        answered = run.status == COMPLETED
        owners = run.function[answered]
        columns = {
            "requests": np.bincount(run.function, minlength=width).tolist(),
            "completed": np.bincount(owners, minlength=width).tolist(),
            "seconds": np.bincount(owners, weights=run.fct[answered], minlength=width).tolist(),
        }
        for column, values in columns.items():
            for name, value in zip(run.functions, values):
                result[column][name] = result[column].get(name, 0) + value
    return result
