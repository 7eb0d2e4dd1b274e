"""The paper's tables and figures with our values beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trimtab.papers.criterion import Measurement
from trimtab.papers.faasrank import reported
from trimtab.papers.faasrank.experiments import CLUSTERS, Results, normalised
from trimtab.papers.measure import mean, reduction
from trimtab.papers.papertable import Cell, PaperTable

_MOTIVATING = ("hashing", "greedy", "static-rank")


def all_tables(results: Results) -> list[PaperTable]:
    """In the order of the paper."""
    return [
        _figure_1(results), _table_2(results), _table_3(results), _figure_6(results),
        _table_4(results, "canada", reported.TABLE_4_CANADA), _table_4(results, "aws", reported.TABLE_4_AWS),
        _table_5(results), *_sensitivity(results),
    ]  # fmt: skip


def _figure_1(results: Results) -> PaperTable:
    scenario = "faasrank-aws"
    base = results.fct(scenario, "hashing")
    # of the paper's bars only the two percentages are printed: greedy's follows from both
    paper = {"hashing": 100.0, "static-rank": 100.0 - reported.STATIC_RANK_BELOW["hashing"]}
    paper["greedy"] = paper["static-rank"] / (1.0 - reported.STATIC_RANK_BELOW["greedy"] / 100.0)
    rows = {}
    for policy in _MOTIVATING:
        times = results.fct(scenario, policy)
        rows[policy] = (
            _cell(mean(times)),
            Cell(normalised(times, base, results.seeds), paper[policy]),
        )
    return PaperTable(
        "figure-1", "Fig. 1: average completion time of three schedulers",
        "The paper prints no seconds; its percentages follow from its text.", "scheduler",
        ("seconds", "% of hashing"), rows, 2,
    )  # fmt: skip


def _table_2(results: Results) -> PaperTable:
    rows = {}
    for name, profile in reported.TABLE_2.items():
        ours: Sequence[float | None] = results.alone.get(name, (None,) * 4)
        printed = (profile.memory_mb, profile.cold_s, profile.warm_s, profile.init_s)
        rows[f"{name} ({profile.short})"] = tuple(Cell(one, value) for one, value in zip(ours, printed))
    return PaperTable(
        "table-2", "Table II: the ten functions",
        "Cold and warm: a lone invocation on an idle AWS invoker, run in the simulator. Memory and init: as set.",
        "function", ("memory (MB)", "cold (s)", "warm (s)", "init (s)"), rows, (0, 2, 2, 2),
    )  # fmt: skip


def _table_3(results: Results) -> PaperTable:
    largest = results.loads["M10"]["cpu_s"]
    rows = {}
    for name, load in reported.TABLE_3.items():
        ours = results.loads[name]
        rows[name] = (
            Cell(100.0 * ours["cpu_s"] / largest, load.load), Cell(ours["cpu_s"], load.cpu_s),
            Cell(ours["calls"], float(load.calls)), Cell(ours["gap_s"], load.gap_s),
            Cell(load.length_s, load.length_s), Cell(None, load.stretch),
        )  # fmt: skip
    return PaperTable(
        "table-3", "Table III: the workloads",
        "The last column is (calls − 1) × inter-arrival time over the length, from the paper's own figures: it "
        "should be 1. Calls and length are taken over, the inter-arrival time is what results.", "workload",
        ("load (% of M10)", "CPU time (s)", "calls", "mean IAT (s)", "length (s)", "paper's own stretch"), rows,
        (2, 1, 0, 3, 0, 2),
    )  # fmt: skip


def _figure_6(results: Results) -> PaperTable:
    rows: dict[str, tuple[Cell, ...]] = {}
    for policy in reported.POLICIES:
        cells: list[Cell] = []
        for cluster, scenario in CLUSTERS.items():
            if policy not in results.runs[scenario]:
                cells += [Cell(None), Cell(None, reported.BELOW_HASHING[cluster])]
                continue
            times, base = results.fct(scenario, policy), results.fct(scenario, "hashing")
            printed = reported.BELOW_HASHING[cluster] if policy == "faasrank" else None
            cells += [_cell(mean(times)), _cell(reduction(times, base), printed)]
        rows[policy] = tuple(cells)
    return PaperTable(
        "figure-6", "Fig. 6: average completion time on two clusters",
        "Percent below hashing, paired by seed. The paper prints only FaaSRank's percentages.", "scheduler",
        ("Canada (s)", "Canada, % below hashing", "AWS (s)", "AWS, % below hashing"), rows, 2,
    )  # fmt: skip


def _table_4(results: Results, cluster: str, printed: dict[str, tuple[float, ...]]) -> PaperTable:
    scenario, seeds = CLUSTERS[cluster], results.seeds
    base = results.function_fct(scenario, "hashing", seeds)
    ours = {
        policy: results.function_fct(scenario, policy, seeds)
        for policy in reported.POLICIES
        if policy in results.runs[scenario]
    }
    rows = {}
    for name, values in printed.items():
        cells = []
        for policy, value in zip(reported.POLICIES, values):
            time = ours.get(policy, {}).get(name)
            cells.append(Cell(None if time is None else 100.0 * time / base[name], value))
        rows[name] = tuple(cells)
    place = "Canada" if cluster == "canada" else "AWS"
    return PaperTable(
        f"table-4-{cluster}", f"Table IV: completion time by function, {place} cluster",
        "Average completion time in % of hashing's.", "function", reported.POLICIES, rows, 2, "low",
    )  # fmt: skip


def _table_5(results: Results) -> PaperTable:
    rows: dict[str, tuple[Cell, ...]] = {}
    for name in reported.MULTI:
        rows[name] = tuple(
            Cell(_share(results, reported.TABLE_3[name].scenario, policy), value)
            for policy, value in zip(reported.POLICIES, reported.TABLE_5[name])
        )
    rows["mean"] = tuple(
        Cell(_mean_of([cells[index].ours for cells in rows.values()]), _mean_of(values))
        for index, values in enumerate(zip(*reported.TABLE_5.values()))
    )
    return PaperTable(
        "table-5", "Table V: completion time by workload, one policy for all ten",
        "Average completion time in % of hashing's, AWS cluster.", "workload", reported.POLICIES, rows, 2, "low",
    )  # fmt: skip


def _sensitivity(results: Results) -> list[PaperTable]:
    if not results.sensitivity:
        return []
    rows = {}
    for setting, policies in results.sensitivity.items():
        base = policies["hashing"]
        rows[setting] = (
            Cell(mean(base).value),
            *(
                _cell(reduction(policies[name], base)) if name in policies else Cell(None)
                for name in reported.POLICIES[1:]
            ),
        )
    return [PaperTable(
        "sensitivity", "What the result depends on",
        "Canada cluster: seconds under hashing, then % below hashing, with one setting changed at a time. "
        "The learned policy is the one trained on the first row.", "setting",
        ("hashing (s)", *reported.POLICIES[1:]), rows, 1,
    )]  # fmt: skip


def _share(results: Results, scenario: str, policy: str) -> float | None:
    if policy not in results.runs[scenario]:
        return None
    return normalised(results.fct(scenario, policy), results.fct(scenario, "hashing"), results.seeds)


def _cell(measured: Measurement, paper: float | None = None) -> Cell:
    interval = None if measured.low is None or measured.high is None else (measured.low, measured.high)
    return Cell(measured.value, paper, interval)


def _mean_of(values: Sequence[float | str | None]) -> float | None:
    numbers = [value for value in values if isinstance(value, int | float)]
    return float(np.mean(numbers)) if len(numbers) == len(values) and numbers else None
