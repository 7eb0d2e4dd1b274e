"""The charts of the report, one file each, in the order in which they appear."""

from __future__ import annotations

from dataclasses import replace

from trimtab.report.figure import Figure, Runs
from trimtab.report.figures.bands import bands
from trimtab.report.figures.bill import bill
from trimtab.report.figures.cold import cold_starts
from trimtab.report.figures.distribution import boxes, cumulative
from trimtab.report.figures.inflight import inflight
from trimtab.report.figures.scaling import instances, latency
from trimtab.report.figures.streams import by_application, success_over_time
from trimtab.report.figures.utilisation import utilisation

MAKERS = (
    by_application, success_over_time, instances, latency, cumulative, boxes, inflight, utilisation, bill,
    cold_starts, bands,
)  # fmt: skip


def all_figures(runs: Runs) -> list[Figure]:
    """Every chart that these runs have data for."""
    return paired([figure for make in MAKERS for figure in make(runs)])


def paired(figures: list[Figure]) -> list[Figure]:
    """Narrow charts stand in pairs, one that is left alone is wide."""
    left = False
    for index, figure in enumerate(figures):
        left = figure.half and not left
        following = figures[index + 1] if index + 1 < len(figures) else None
        if left and (following is None or not following.half):
            figures[index] = replace(figure, half=False)
            left = False
    return figures
