"""What the slides show as curves, as tables; they print no values, so their side is empty."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from trimtab.papers.autoscale import reported
from trimtab.papers.autoscale.experiments import (
    INSTANCES,
    LATENCY,
    RESIZABLE,
    REWARD,
    SCENARIO,
    VERTICAL,
    Results,
)
from trimtab.papers.claim import NotTestable
from trimtab.papers.measure import mean
from trimtab.papers.papertable import Cell, PaperTable

_SHOWN = {
    "violations (%)": ("sla_violation_rate", 100.0),
    "p95 latency (s)": ("p95_fct_s", 1.0),
    "p99 latency (s)": ("p99_fct_s", 1.0),
    "instance-seconds (1000)": ("instance_seconds", 1e-3),
    "changes an hour": ("changes_per_hour", 1.0),
}


def all_tables(results: Results) -> list[PaperTable]:
    """The learning curves' ends, and the policies on unseen seeds."""
    return [_learning(results), _policies(results)]


def _learning(results: Results) -> PaperTable:
    rows = {}
    for name in results.learned:
        cpu = f"{reported.MILLICORES[0]:g}–{reported.MILLICORES[1]:g}" if name == VERTICAL else None
        rows[name] = (
            *_ends(partial(results.curve, name, REWARD)), *_ends(partial(results.curve, name, LATENCY)),
            *_ends(partial(results.curve, name, INSTANCES)), *_ends(partial(results.millicores, name), cpu),
        )  # fmt: skip
    heads = tuple(
        f"{what}, {when}"
        for what in ("reward", "tail latency (s)", "instances", "millicores")
        for when in ("first tenth", "last tenth")
    )
    return PaperTable(
        "learning", "Learning curves: where training began and where it ended",
        f"Means over the first and the last tenth of the episodes. The requirement is {results.objective:g} s.",
        "policy", heads, rows, (2, 2, 3, 3, 1, 1, 0, 0),
    )  # fmt: skip


def _ends(curve: Callable[[], list[float]], paper: str | None = None) -> tuple[Cell, Cell]:
    try:
        values = curve()
    except NotTestable:
        return Cell(None), Cell(None, paper)
    part = max(1, len(values) // 10)
    return Cell(float(np.mean(values[:part]))), Cell(float(np.mean(values[-part:])), paper)


def _policies(results: Results) -> PaperTable:
    rows = {}
    for policy in results.runs:
        cells = []
        for figure, scale in _SHOWN.values():
            found = mean({seed: scale * value for seed, value in results.of(policy, figure).items()})
            interval = None if found.low is None or found.high is None else (found.low, found.high)
            cells.append(Cell(found.value, None, interval))
        rows[policy] = tuple(cells)
    return PaperTable(
        "policies", "Learned and naive autoscalers on unseen seeds",
        f"{SCENARIO}: one function, 25 Erlang at peak, deadline 0.5 s; {VERTICAL} on {RESIZABLE}, where start-up takes "
        "30 s. One that costs more usually violates less: trimtab frontier compares them at equal violations.",
        "policy", tuple(_SHOWN), rows,
        (2, 2, 2, 1, 0),
    )  # fmt: skip
