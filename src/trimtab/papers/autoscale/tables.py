"""What the slides show as curves, as tables; they print no values, so their side is empty."""

from __future__ import annotations

import numpy as np

from trimtab.papers.autoscale import reported
from trimtab.papers.autoscale.experiments import CPU, INSTANCES, LATENCY, Results
from trimtab.papers.claim import NotTestable
from trimtab.papers.learned import Learned
from trimtab.papers.measure import mean
from trimtab.papers.papertable import Cell, PaperTable

_SHOWN = {
    "violations (%)": ("sla_violation_rate", 100.0),
    "p99 latency (s)": ("p99_fct_s", 1.0),
    "instance-seconds (1000)": ("instance_seconds", 1e-3),
    "changes an hour": ("changes_per_hour", 1.0),
}


def all_tables(results: Results) -> list[PaperTable]:
    """The learning curves' ends, and the policies on unseen seeds."""
    return [_learning(results), _policies(results)]


def _learning(results: Results) -> PaperTable:
    rows = {}
    for name, learned in results.learned.items():
        cpu = f"{reported.MILLICORES[0]:g}–{reported.MILLICORES[1]:g}" if name == "dqn-vertical" else None
        rows[name] = (
            *_ends(learned, ("reward",), 1.0), *_ends(learned, LATENCY, 1.0), *_ends(learned, INSTANCES, 1.0),
            *_ends(learned, CPU, 1000.0, cpu),
        )  # fmt: skip
    heads = tuple(
        f"{what}, {when}"
        for what in ("reward", "tail latency (s)", "instances", "millicores")
        for when in ("first tenth", "last tenth")
    )
    return PaperTable(
        "learning", "Learning curves: where training began and where it ended",
        f"Means over the first and the last tenth of the episodes. The requirement is {results.objective:g} s.",
        "policy", heads, rows, 3,
    )  # fmt: skip


def _ends(learned: Learned, names: tuple[str, ...], scale: float, paper: str | None = None) -> tuple[Cell, Cell]:
    try:
        values = learned.column(*names)
    except NotTestable:
        return Cell(None), Cell(None, paper)
    part = max(1, len(values) // 10)
    first, last = (scale * float(np.mean(each)) for each in (values[:part], values[-part:]))
    return Cell(first), Cell(last, paper)


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
        "autoscale-fibonacci: one function, 25 Erlang at peak, deadline 0.5 s. An autoscaler that costs more usually "
        "violates less: trimtab frontier compares them at equal violations.", "policy", tuple(_SHOWN), rows, 2,
    )  # fmt: skip
