"""Statistics of a workload: what a person wants to know before simulating it."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.workload.table import Floats, Workload

MINUTE = 60.0
PERCENTILES = (1, 25, 50, 75, 95, 99)


def describe(workload: Workload) -> dict[str, Any]:
    """Figures by name, in SI units; a figure that the workload does not have is absent."""
    calls = np.bincount(workload.function, minlength=len(workload.functions)).astype(np.float64)
    seconds = max(workload.duration, 1e-9)
    minutes, per_minute = _per_minute(workload)
    summary: dict[str, Any] = {
        "requests": len(workload),
        "functions": len(workload.functions),
        "functions_called": int(np.count_nonzero(calls)),
        "duration_s": workload.duration,
        "mean_rate_rps": len(workload) / seconds,
        "peak_minute_rps": float(per_minute.max() / min(MINUTE, seconds)) if minutes else 0.0,
        "share_of_functions_under_1_per_minute": float(np.mean(calls / (seconds / MINUTE) < 1.0)),
        "busiest_function": workload.functions[int(np.argmax(calls))],
        "busiest_function_share": float(calls.max() / max(len(workload), 1)),
    }
    summary |= _dispersion(workload, calls, per_minute)
    summary |= _streams(workload) if workload.streams is not None else _work(workload, seconds)
    if workload.notes:
        summary["notes"] = list(workload.notes)
    return summary


def dispersion(counts: Floats) -> float:
    """Variance over mean: 1 for Poisson, less for clockwork, more for bursts."""
    mean = float(counts.mean())
    return float(counts.var() / mean) if mean > 0 else float("nan")


def _per_minute(workload: Workload) -> tuple[int, Floats]:
    """Calls in each whole minute; a shorter run is one minute, a part of one at the end is left out."""
    minutes = max(int(workload.duration / MINUTE), 1)
    # not astype on the whole column at once: ten million rows in one go cost another 80 MB
    counts = np.histogram(workload.arrival, bins=minutes, range=(0.0, minutes * MINUTE))[0]
    return minutes, counts.astype(float)


def _dispersion(workload: Workload, calls: Floats, per_minute: Floats) -> dict[str, Any]:
    """Overall, of the median function, and by trigger where the trace knows it."""
    minutes = len(per_minute)
    if minutes < 2:
        return {}
    each = function_dispersion(workload, minutes)
    called = np.flatnonzero(calls)
    result: dict[str, Any] = {
        "dispersion_per_minute": dispersion(per_minute),
        "median_function_dispersion": float(np.median(each[called])),
    }
    trigger = workload.statistics.get("trigger")
    if trigger:
        names = np.array(trigger, dtype=object)[called]
        result["dispersion_by_trigger"] = {
            str(name): {
                "functions": int((names == name).sum()),
                "median": float(np.median(each[called][names == name])),
                "max": float(each[called][names == name].max()),
            }
            for name in sorted(set(names))
        }
    return result


def function_dispersion(workload: Workload, minutes: int) -> Floats:
    """Variance over mean of the calls a minute of each function (not a number: never called)."""
    count = len(workload.functions)
    minute = (workload.arrival / MINUTE).astype(np.int32)
    inside = minute < minutes
    cells, each = np.unique(workload.function[inside].astype(np.int64) * minutes + minute[inside], return_counts=True)
    function = cells // minutes
    total = np.bincount(function, weights=each, minlength=count)
    square = np.bincount(function, weights=each.astype(float) ** 2, minlength=count)
    mean = total / minutes
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((square / minutes - mean**2) / mean)


def _work(workload: Workload, seconds: float) -> dict[str, Any]:
    values = np.percentile(workload.work, PERCENTILES)
    result: dict[str, Any] = {
        "work_mean_s": float(workload.work.mean()),
        "work_percentiles_s": {f"p{knot}": float(value) for knot, value in zip(PERCENTILES, values)},
        "busy_cores": float(workload.work.sum() / seconds),
    }
    if len(workload.memory):
        result["memory_median_bytes"] = float(np.median(workload.memory))
        result["memory_of_one_instance_each_bytes"] = float(workload.memory.sum())
    return result


def _streams(workload: Workload) -> dict[str, Any]:
    streams = workload.streams
    assert streams is not None
    after = workload.arrival >= workload.warm_up
    seconds = max(workload.duration - workload.warm_up, 1e-9)
    return {
        "streams": len(streams.arrival),
        "sources": int(streams.source.max()) + 1 if len(streams.source) else 0,
        "tasks": list(workload.tasks),
        "queries_per_s_after_warm_up": float(after.sum() / seconds),
        "deadline_percentiles_s": {
            f"p{knot}": float(value) for knot, value in zip(PERCENTILES, np.percentile(streams.deadline, PERCENTILES))
        },
    }
