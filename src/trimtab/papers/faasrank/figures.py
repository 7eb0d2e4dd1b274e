"""The paper's figures drawn from our runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.papers.charts import bars, lines, looks
from trimtab.papers.faasrank import reported
from trimtab.papers.faasrank.experiments import CLUSTERS, Results
from trimtab.papers.learned import Learned
from trimtab.papers.papertable import PaperTable
from trimtab.report.figure import Figure
from trimtab.report.sampling import thin

_CURVES = {"canada": "one workload, Canada", "aws": "one workload, AWS", "multi": "ten workloads"}


def all_figures(results: Results, tables: dict[str, PaperTable]) -> list[Figure]:
    """Those of the paper that show measurements: 1, 5, 6 and 7."""
    return [
        *_curves(results), *_bars(tables["figure-1"], 1, "% of hashing", half=False), *_clusters(tables["figure-6"]),
        *_inflight(results), *_workloads(tables["table-5"]),
    ]  # fmt: skip


def _curves(results: Results) -> list[Figure]:
    """Fig. 5: what an episode brought, over training."""
    found = []
    for key, words in _CURVES.items():
        learned = results.learned[key]
        if learned.curve:
            found.append(_curve(f"figure-5-{key}", words, learned))
    return found


def _curve(name: str, words: str, learned: Learned) -> Figure:
    units = [float(point["unit"]) for point in learned.curve]
    rewards = [float(point["reward"]) for point in learned.curve]
    style = looks([learned.name], learned.name, None)
    return lines(
        name, f"Fig. 5: learning curve, {words}",
        "Reward of an episode, higher is better: minus the time integral of invocations in flight. The paper draws "
        "the loss, which descends as this rises.",
        {learned.name: (units, rewards)}, style, "episode", "reward", half=True, height=300,
    )  # fmt: skip


def _bars(table: PaperTable, column: int, unit: str, half: bool) -> list[Figure]:
    cells: list[Any] = [row[column] for row in table.rows.values()]
    return [bars(
        table.name, table.title, table.caption, list(table.rows), [cell.ours for cell in cells],
        [cell.paper for cell in cells], unit, intervals=[cell.ci95 for cell in cells], half=half,
    )]  # fmt: skip


def _clusters(table: PaperTable) -> list[Figure]:
    found = []
    for column, cluster in ((0, "Canada"), (2, "AWS")):
        cells: list[Any] = [row[column] for row in table.rows.values()]
        found.append(bars(
            f"figure-6-{cluster.lower()}", f"Fig. 6: average completion time, {cluster}",
            "Mean over seeds with its 95 % interval. The paper prints no seconds.", list(table.rows),
            [cell.ours for cell in cells], [None] * len(cells), "s", intervals=[cell.ci95 for cell in cells],
        ))  # fmt: skip
    return found


def _inflight(results: Results) -> list[Figure]:
    """Fig. 7: invocations in flight over time, the first seed."""
    found = []
    for cluster, scenario in CLUSTERS.items():
        runs = results.runs[scenario]
        curves = {}
        for policy in runs:
            series = runs[policy][results.seeds[0]].series
            time, values = thin(series["time"], series["inflight"])
            curves[policy] = (time.tolist(), values.tolist())
        style = looks(list(runs), "faasrank", "hashing")
        found.append(lines(
            f"figure-7-{cluster}", f"Fig. 7: invocations in flight, {'Canada' if cluster == 'canada' else 'AWS'}",
            f"Seed {results.seeds[0]}.", curves, style, "time (s)", "in flight",
        ))  # fmt: skip
    return found


def _workloads(table: PaperTable) -> list[Figure]:
    """Table V as bars: the mean over the ten workloads."""
    cells = dict(zip(reported.POLICIES, table.rows["mean"]))
    numbers: list[Any] = [cell.ours for cell in cells.values()]
    if all(value is None or np.isfinite(value) for value in numbers):
        return [bars(
            "table-5", "Table V: mean over ten workloads", "Average completion time in % of hashing's.", list(cells),
            numbers, [cell.paper for cell in cells.values()], "% of hashing", half=False,  # type: ignore[misc]
        )]  # fmt: skip
    return []
