"""Counts a second or a minute of one service, scaled to a scenario's peak."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import CountsSpec
from trimtab.workload.assemble import assemble
from trimtab.workload.azure_llm import timestamps
from trimtab.workload.entries import choose, entry_shares, mean_work
from trimtab.workload.random_streams import stream
from trimtab.workload.spread import DESCRIPTION, MOST_REQUESTS, spread_counts
from trimtab.workload.table import Floats, Ints, Workload
from trimtab.workload.trace_file import check_numbers, find_trace, read_header, read_table

LENGTHS = {"second": 1.0, "minute": 60.0}
LONGEST_GAP = 3600.0
"""Seconds without data that are taken as no load; longer gaps are cut out."""
WINDOW = 7200.0
MOST_SAMPLED = 5_000_000
PEAK_QUANTILE = 0.999


@dataclass(frozen=True)
class Series:
    """Counts in equal intervals, one after the other, long gaps cut out."""

    count: Floats
    length: float
    """Seconds of an interval."""
    notes: tuple[str, ...]


def build_counts(scenario: Scenario, spec: CountsSpec, seed: int) -> Workload:
    """Poisson counts around the scaled series (or a window of it), spread inside each interval."""
    series = read_series(spec.path)
    shares = entry_shares(scenario)
    expected, scaled = _scaled(series, _peak(scenario, spec, shares))
    expected, chosen = _windows(expected, series.length, spec.whole)
    if expected.sum() > MOST_REQUESTS:
        raise TrimtabError(f"{spec.path}: {expected.sum():.3g} requests, must be at most {MOST_REQUESTS:,}")
    random = stream(seed, "arrivals")
    count = random.poisson(expected).astype(np.int32)
    interval = np.flatnonzero(count).astype(np.int32)
    arrival, _ = spread_counts(
        interval, interval, count[interval], length=series.length, how=spec.spread, random=random
    )
    function = choose(shares, len(arrival), random)
    notes = (*series.notes, scaled, chosen, f"counts: {DESCRIPTION[spec.spread]}")
    return assemble(
        scenario, arrival, function, len(expected) * series.length, seed,
        notes=tuple(note for note in notes if note),
    )  # fmt: skip


def read_series(path: str) -> Series:
    """The file's counts on an unbroken line of intervals: a missing one is no load, a long gap is cut."""
    import polars

    found = find_trace(path)
    header = read_header(found)
    unit = next((name for name in LENGTHS if name in header), None)
    if unit is None:
        raise TrimtabError(f"{found}: column 'minute' or 'second' is missing (has: {', '.join(header[:12])})")
    frame = read_table(found, {unit: polars.String, "count": polars.Float64})
    count = frame["count"].to_numpy()
    check_numbers(found, "count", count)
    index = _indices(found, unit, frame[unit])
    return _unbroken(found, index, count, unit)


def _indices(path: Path, unit: str, column: object) -> Ints:
    """Numbers of the intervals, from integers or timestamps; they must rise."""
    import polars

    assert isinstance(column, polars.Series)
    number = column.str.strip_chars().cast(polars.Int64, strict=False)
    if number.null_count() == 0:
        index = number.to_numpy()
    else:
        index = np.floor(timestamps(path, unit, column) / LENGTHS[unit]).astype(np.int64)
    rises = np.diff(index) > 0
    if not rises.all():
        row = int(np.argmin(rises)) + 1
        raise TrimtabError(
            f"{path}: row {row + 1}: {unit} = {column[row]} is not after {column[row - 1]} in the row above, "
            "must be in order of time, each once"
        )
    return np.asarray(index)


def _unbroken(path: Path, index: Ints, count: Floats, unit: str) -> Series:
    length = LENGTHS[unit]
    steps = np.diff(index)
    cut = steps * length > LONGEST_GAP
    # a cut gap becomes one step, as if its two ends were neighbours
    place = np.concatenate([[0], np.cumsum(np.where(cut, 1, steps))])
    if place[-1] + 1 > MOST_REQUESTS:
        raise TrimtabError(f"{path}: spans {place[-1] + 1:,} intervals, must be at most {MOST_REQUESTS:,}")
    series = np.zeros(int(place[-1]) + 1)
    series[place] = count
    missing = int(len(series) - len(count))
    notes = [f"{missing:,} missing {unit}s taken as no load"] if missing else []
    if cut.any():
        hours = float(((steps[cut] - 1) * length).sum() / 3600)
        notes.append(f"{int(cut.sum())} gaps over an hour cut out, {hours:.1f} h in all")
    return Series(series, length, tuple(notes))


def _peak(scenario: Scenario, spec: CountsSpec, shares: Floats) -> float | None:
    """Requests a second that the 99.9th-percentile minute is to have; None: as recorded."""
    if spec.peak_load is not None:
        return spec.peak_load / mean_work(scenario, shares)
    return spec.peak_rate


def _scaled(series: Series, peak: float | None) -> tuple[Floats, str]:
    if peak is None:
        return series.count, "counts as recorded"
    by_minute = _per_minute(series)
    recorded = float(np.quantile(by_minute, PEAK_QUANTILE)) / 60.0
    if recorded <= 0:
        recorded = float(by_minute.max()) / 60.0
    if recorded <= 0:
        raise TrimtabError("the series has no requests at all")
    note = f"scaled by {peak / recorded:.4g}: the 99.9th-percentile minute has {peak:.4g} requests a second"
    return series.count * (peak / recorded), note


def _per_minute(series: Series) -> Floats:
    group = round(60.0 / series.length)
    whole = series.count[: len(series.count) // group * group]
    return np.asarray(whole.reshape(-1, group).sum(axis=1) if len(whole) else series.count.sum(keepdims=True))


def _windows(expected: Floats, length: float, whole: bool) -> tuple[Floats, str]:
    """Evenly spaced two-hour windows, as many as make at most five million requests."""
    total, size = float(expected.sum()), int(WINDOW / length)
    if whole or total <= MOST_SAMPLED or len(expected) <= size:
        return expected, ""
    before = np.concatenate([[0.0], np.cumsum(expected)])
    for windows in range(len(expected) // size, 0, -1):
        starts = np.linspace(0, len(expected) - size, windows).astype(np.int64)
        if (before[starts + size] - before[starts]).sum() <= MOST_SAMPLED:
            break
    rows = (starts[:, None] + np.arange(size)).ravel()
    hours = len(expected) * length / 3600
    note = f"{len(starts)} evenly spaced two-hour windows of {hours:.1f} h, one after the other"
    return expected[rows], note
