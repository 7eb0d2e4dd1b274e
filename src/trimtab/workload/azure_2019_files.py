"""The three CSV files of an Azure 2019 day, column by column as published."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.workload.quantiles import Quantiles
from trimtab.workload.table import Floats, Ints
from trimtab.workload.trace_file import check_numbers, read_header, read_table, require

KEYS = ["HashOwner", "HashApp", "HashFunction"]
KNOTS = (0, 1, 25, 50, 75, 99, 100)
"""Percentiles of the durations file."""
SHORTEST = 0.0005
"""Seconds: durations are whole milliseconds, and 0 means less than half of one."""
MEMORY_DEFAULT = 170 * 2.0**20
"""Median of the published apps."""
WORK_DEFAULT = 0.62
"""Seconds, the median function of the published sample."""


@dataclass(frozen=True)
class Invocations:
    """Calls a minute, sparse, minute after minute."""

    keys: np.ndarray
    """Owner, app and function, a row a function."""
    trigger: np.ndarray
    function: Ints
    minute: Ints
    count: Ints
    minutes: int
    durations: Path | None
    memory: Path | None
    notes: tuple[str, ...]


def read_invocations(path: Path, first: int | None, last: int | None) -> Invocations:
    """The invocations file of a folder or the one given, minutes ``first`` to ``last`` of it."""
    import polars

    file, notes = _invocations_file(path)
    header = read_header(file)
    require(file, header, KEYS)
    labels = _minutes(file, header, first, last)
    texts = dict.fromkeys([name for name in (*KEYS, "Trigger") if name in header], polars.String)
    frame = _read_once(file, texts, dict.fromkeys([str(label) for label in labels], polars.Int32))
    function, minute, count = _cells(file, frame, labels)
    keys = np.array(frame.select(KEYS).rows(), dtype=object).reshape(-1, 3)
    trigger = frame["Trigger"].to_numpy() if "Trigger" in frame.columns else np.full(len(keys), "unknown")
    keys, trigger, function = _merged(keys, trigger, function)
    return Invocations(
        keys, trigger, function, minute, count, labels[-1] - labels[0] + 1,
        _beside(file, "function_durations_percentiles"), _beside(file, "app_memory_percentiles"), notes,
    )  # fmt: skip


def _read_once(file: Path, texts: dict[str, Any], minutes: dict[str, Any]) -> Any:
    """Names and counts in one pass over the file."""
    import polars

    try:
        frame = polars.read_csv(file, columns=[*texts, *minutes], schema_overrides=texts | minutes)
    except Exception:
        # slower, but says which value of which row is wrong
        frame = read_table(file, texts | minutes)
    if frame.height == 0:
        raise TrimtabError(f"{file}: has no rows")
    # an empty cell is a minute without calls, except at the end of a row: there the file was cut
    for name in (*texts, list(minutes)[-1]):
        if frame[name].null_count():
            row = int(frame[name].is_null().arg_true()[0]) + 1
            raise TrimtabError(f"{file}: row {row}: {name} is empty, is it truncated?")
    return frame


def read_durations(path: Path | None, keys: np.ndarray) -> tuple[Quantiles, str]:
    """Quantiles of the seconds of one call of each function, and a note on those without any."""
    import polars

    if path is None:
        return _default_quantiles(len(keys)), f"no durations file: {WORK_DEFAULT} s a call assumed, lognormal"
    columns = {f"percentile_Average_{knot}": polars.Float64 for knot in KNOTS}
    frame = read_table(path, dict.fromkeys(KEYS, polars.String) | {"Average": polars.Float64} | columns)
    for name in ("Average", *columns):
        check_numbers(path, name, frame[name].to_numpy())
    row_of = {key: row for row, key in enumerate(frame.select(KEYS).rows())}
    rows = np.array([row_of.get(tuple(key), -1) for key in keys])
    values = np.sort(frame.select(list(columns)).to_numpy(), axis=1) / 1000.0
    mean = frame["Average"].to_numpy() / 1000.0
    missing = int((rows < 0).sum())
    if missing:
        middle = int(np.argsort(mean)[len(mean) // 2])
        rows = np.where(rows < 0, middle, rows)
    note = f"{missing:,} functions have no durations: those of the median function are used" if missing else ""
    knots = np.array(KNOTS) / 100.0
    return Quantiles(knots, np.maximum(values[rows], SHORTEST), np.maximum(mean[rows], SHORTEST)), note


def read_memory(path: Path | None, keys: np.ndarray) -> tuple[Floats, str]:
    """Bytes of each function: its own where the file has functions, else those of its app."""
    import polars

    if path is None:
        return np.full(len(keys), MEMORY_DEFAULT), "no memory file: 170 MiB a function assumed"
    by = KEYS if "HashFunction" in read_header(path) else KEYS[:2]
    frame = read_table(path, dict.fromkeys(by, polars.String) | {"AverageAllocatedMb": polars.Float64})
    megabytes = frame["AverageAllocatedMb"].to_numpy()
    check_numbers(path, "AverageAllocatedMb", megabytes)
    memory_of = dict(zip(frame.select(by).rows(), megabytes.tolist()))
    found = [memory_of.get(tuple(key[: len(by)])) for key in keys]
    missing = sum(one is None for one in found)
    median = float(np.median(megabytes))
    note = f"{missing:,} functions have no memory figure: the median is used" if missing else ""
    return np.array([median if one is None else one for one in found]) * 2.0**20, note


def _invocations_file(path: Path) -> tuple[Path, tuple[str, ...]]:
    if not path.is_dir():
        return path, ()
    files = sorted(path.glob("invocations_per_function_md*.csv*"))
    if not files:
        raise TrimtabError(f"{path}: no invocations_per_function_md*.csv in this folder")
    notes = (f"{len(files)} days in the folder, {files[0].name} is used",) if len(files) > 1 else ()
    return files[0], notes


def _beside(file: Path, kind: str) -> Path | None:
    """The file of that kind for the same day."""
    prefix = "invocations_per_function_md"
    if not file.name.startswith(prefix):
        return None
    other = file.with_name(kind + file.name.removeprefix(prefix))
    return other if other.exists() else None


def _minutes(file: Path, header: list[str], first: int | None, last: int | None) -> list[int]:
    labels = sorted(int(name) for name in header if name.isdecimal())
    if not labels:
        raise TrimtabError(f"{file}: no columns with minutes such as '1', '2' … '1440'")
    chosen = [one for one in labels if (first is None or one >= first) and (last is None or one <= last)]
    if not chosen:
        raise TrimtabError(
            f"workload: first_minute = {first}, last_minute = {last}, must be {labels[0]} to {labels[-1]}"
        )
    return chosen


def _cells(file: Path, frame: Any, labels: list[int]) -> tuple[Ints, Ints, Ints]:
    """Minutes with calls; column by column, so that the dense table is never copied."""
    functions, minutes, counts = [], [], []
    for label in labels:
        column = frame[str(label)].fill_null(0).to_numpy()
        used = np.flatnonzero(column)
        count = column[used]
        if len(count) and count.min() < 0:
            row = int(used[np.argmax(count < 0)])
            raise TrimtabError(f"{file}: row {row + 1}: minute {label} = {column[row]}, must be 0 or more")
        functions.append(used.astype(np.int32))
        counts.append(count.astype(np.int32))
        minutes.append(np.full(len(used), label - labels[0], np.int32))
    return np.concatenate(functions), np.concatenate(minutes), np.concatenate(counts)


def _merged(keys: np.ndarray, trigger: np.ndarray, function: Ints) -> tuple[np.ndarray, np.ndarray, Ints]:
    """Rows of the same owner, app and function are one function."""
    index: dict[tuple[str, ...], int] = {}
    of_row = np.array([index.setdefault(tuple(key), len(index)) for key in keys], np.int32)
    if len(index) == len(keys):
        return keys, trigger, function
    first = np.unique(of_row, return_index=True)[1]
    return keys[first], trigger[first], of_row[function]


def _default_quantiles(count: int) -> Quantiles:
    from statistics import NormalDist

    normal = NormalDist()
    knots = np.array([0.001, 0.01, 0.25, 0.5, 0.75, 0.99, 0.999])
    # lognormal with a coefficient of variation of 1: sigma² = ln 2
    values = np.exp(np.sqrt(np.log(2)) * np.array([normal.inv_cdf(knot) for knot in knots]))
    knots[0], knots[-1] = 0.0, 1.0
    return Quantiles(knots, np.tile(WORK_DEFAULT * values, (count, 1)), np.full(count, WORK_DEFAULT))
