"""The paper's figures as tables; the paper prints no values, so its side is empty."""

from __future__ import annotations

import numpy as np

from trimtab.papers.aset import reported
from trimtab.papers.aset.claims import CO, DC, FULL
from trimtab.papers.aset.experiments import DYNAMIC, Results, Sample, Setting
from trimtab.papers.measure import mean
from trimtab.papers.papertable import Cell, PaperTable


def all_tables(results: Results) -> list[PaperTable]:
    """In the order of the paper."""
    return [_figure_4(results), _figure_5(results), _figure_6(results), _sweep(results)]


def _figure_4(results: Results) -> PaperTable:
    runs = results.runs[DYNAMIC, 0]
    names = list(next(iter(next(iter(runs.values())).values())).applications)
    rows = {
        name: tuple(Cell(_mean(runs[policy], lambda each, name=name: each.applications.get(name))) for policy in runs)
        for name in names
    }
    return PaperTable(
        "figure-4", "Fig. 4: success by application, client rates that change",
        "Queries answered in time by a model that is accurate enough, in %; full-edge, λ 20, 60, 100, 60.",
        "application", tuple(runs), rows, 1, "high",
    )  # fmt: skip


def _figure_5(results: Results) -> PaperTable:
    places: dict[str, Setting] = {
        "dc-cloud, λ = 60": DC, "dc-cloud, λ = 100": ("dc-cloud", reported.HIGHEST_RATE), "co-dc-cloud, λ = 60": CO,
        "full-edge, λ = 60": FULL,
    }  # fmt: skip
    policies = list(dict.fromkeys(policy for setting in places.values() for policy in results.runs[setting]))
    rows = {
        policy: tuple(
            _success(results, setting, policy) if policy in results.runs[setting] else Cell(None)
            for setting in places.values()
        )
        for policy in policies
    }
    return PaperTable(
        "figure-5", "Fig. 5: success by topology",
        "Successful queries in %, with 95 % intervals. The three topologies have the same workers in all: the fair "
        "reading of resources that are “moved” to central offices.", "policy", tuple(places), rows, 1,
    )  # fmt: skip


def _figure_6(results: Results) -> PaperTable:
    rows = {
        policy: (
            _success(results, FULL, policy),
            Cell(_mean(runs, lambda each: each.shares["rejected"])),
            Cell(_mean(runs, lambda each: each.failed)),
        )
        for policy, runs in results.runs[FULL].items()
    }
    return PaperTable(
        "figure-6", "Fig. 6a, c, d: full-edge at λ = 60",
        "In % of the queries. Failed: served, but late or not accurately enough.", "policy",
        ("success", "rejected", "failed"), rows, 1,
    )  # fmt: skip


def _sweep(results: Results) -> PaperTable:
    rates = sorted(rate for topology, rate in results.runs if topology == "full-edge")
    policies = list(results.runs["full-edge", rates[0]])
    rows = {
        f"λ = {rate}": tuple(_success(results, ("full-edge", rate), policy) for policy in policies) for rate in rates
    }
    return PaperTable(
        "figure-6b", "Fig. 6b: success by client rate, full-edge",
        "Successful queries in %; the agent was trained at λ = 60 only.", "clients a minute", tuple(policies), rows, 1,
        "high",
    )  # fmt: skip


def _success(results: Results, setting: Setting, policy: str) -> Cell:
    found = mean(results.success(setting, policy))
    interval = None if found.low is None or found.high is None else (found.low, found.high)
    return Cell(found.value, None, interval)


def _mean(runs: dict[int, Sample], figure: object) -> float | None:
    assert callable(figure)
    values = [value for each in runs.values() if (value := figure(each)) is not None]
    return float(100.0 * np.mean(values)) if values else None
