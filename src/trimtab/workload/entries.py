"""Where requests enter: functions that no other function calls, and the share of each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trimtab.errors import TrimtabError, unknown
from trimtab.scenario.model import Scenario
from trimtab.workload.table import Floats, Ints


def entry_shares(scenario: Scenario, shares: Mapping[str, float] | None = None) -> Floats:
    """Share of all requests that arrive at each function; functions called by others get none."""
    if not scenario.functions:
        raise TrimtabError("functions = [], must have at least one for this workload")
    called = {function.next for function in scenario.functions}
    names = [function.name for function in scenario.functions]
    weights = np.array([0.0 if name in called else 1.0 for name in names])
    for name, share in (shares or {}).items():
        if name not in names:
            raise unknown("workload.shares", name, names)
        weights[names.index(name)] = share
    if not weights.sum() > 0:
        raise TrimtabError("workload.shares: all are 0, at least one must be above")
    return np.asarray(weights / weights.sum())


def mean_work(scenario: Scenario, shares: Floats) -> float:
    """Mean core-seconds of a request where it enters; what turns Erlang into requests a second."""
    work = np.array([function.work for function in scenario.functions])
    mean = float(work @ shares)
    if mean <= 0:
        raise TrimtabError("functions: work = 0, must be above 0 where a load is given in Erlang")
    return mean


def choose(shares: Floats, count: int, random: np.random.Generator) -> Ints:
    """A function for each of ``count`` requests."""
    used = np.flatnonzero(shares)
    if len(used) == 1:
        return np.full(count, used[0], np.int32)
    if np.ptp(shares[used]) == 0:
        return used.astype(np.int32)[random.integers(0, len(used), count, dtype=np.int32)]
    # inverse of the cumulative shares; the last edge is 1 exactly, whatever rounding says
    edges = np.cumsum(shares[used])
    edges[-1] = 1.0
    return used.astype(np.int32)[np.searchsorted(edges, random.random(count), side="right")]
