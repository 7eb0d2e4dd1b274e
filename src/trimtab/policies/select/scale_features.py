"""What tells scale policies apart: what they ask for now, in which situation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trimtab.policies.scale.contract import FunctionMetrics
from trimtab.policies.select.contract import Floats, ScaleState

DIFFERENCE = ("cores", "more", "fewer")
"""Cores of instances that a candidate asks for beyond those that the fallback asks for: their sum over the functions,
what is above and what is below. After them comes one number for each candidate, 1 for the one it is about."""
CONTEXT = ("one", "load", "trend", "queue", "in flight", "violations", "recent peak", "noise")
"""Without unit, over all functions."""
_MOST = 3.0
"""No number of the context is larger: beyond that, an overload is an overload."""


def context_of(metrics: Sequence[FunctionMetrics], before: Floats, peaks: Floats) -> Floats:
    """The situation in a window, given each function's arrival rate in the one before and its recent peak.

    load         offered work over what the ready instances can do
    trend        change of the arrival rate, over the larger of both rates
    queue        requests that wait for an instance, over what the ready ones serve at the same time
    in flight    requests in the system, over the same
    violations   share of the requests that arrived
    recent peak  by how much the highest rate of late exceeds the rate, over the highest
    noise        1 over the root of the offered load: how far a Poisson load strays, relative to itself
    """
    weights = np.array([(each.service_mean or 0.0) * each.cpu_limit for each in metrics])
    rates = np.array([each.arrival_rate for each in metrics])
    load = sum(each.arrival_rate * (each.service_mean or 0.0) / each.concurrency for each in metrics)
    ready = max(sum(each.ready for each in metrics), 1)
    slots = max(sum(each.ready * each.concurrency for each in metrics), 1)
    now, then, peak = (float(weights @ each) for each in (rates, before, peaks))
    arrivals = max(sum(each.arrivals for each in metrics), 1)
    numbers = (
        1.0,
        load / ready,
        (now - then) / max(now, then, 1e-9),
        sum(each.queued for each in metrics) / slots,
        sum(each.inflight for each in metrics) / slots,
        sum(each.violations for each in metrics) / arrivals,
        (peak - now) / max(peak, 1e-9),
        1.0 / math.sqrt(max(load, 1.0)),
    )
    return np.asarray(np.clip(np.array(numbers), -_MOST, _MOST), np.float64)


def differences_of(state: ScaleState, fallback: str, candidates: tuple[str, ...]) -> Floats:
    """A row for every candidate: what it asks for more than the fallback, and which one it is."""
    cores = np.array([(state.asked[name] - state.asked[fallback]) * state.cores for name in candidates])
    more, fewer = np.maximum(cores, 0.0).sum(axis=1), np.maximum(-cores, 0.0).sum(axis=1)
    numbers = np.stack([cores.sum(axis=1), more, fewer], axis=1)
    return np.concatenate([numbers, np.eye(len(candidates))], axis=1)
