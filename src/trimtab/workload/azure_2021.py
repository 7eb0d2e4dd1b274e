"""Azure Functions 2021: a row a call with app, func, end_timestamp and duration, in seconds."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from trimtab.workload.rows import Rows
from trimtab.workload.trace_file import check_numbers, find_trace, read_table


def read_azure_2021(path: str) -> Rows:
    """The trace in order of arrival (the file is in order of ending, more or less)."""
    found = find_trace(path)
    return _read(found, found.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read(path: Path, stamp: int) -> Rows:
    import polars

    columns = {
        "app": polars.String,
        "func": polars.String,
        "end_timestamp": polars.Float64,
        "duration": polars.Float64,
    }
    frame = read_table(path, columns)
    end, work = frame["end_timestamp"].to_numpy(), frame["duration"].to_numpy()
    check_numbers(path, "end_timestamp", end)
    check_numbers(path, "duration", work)
    key = frame["app"].str.slice(0, 8) + "/" + frame["func"].str.slice(0, 8)
    if key.n_unique() < frame.select("app", "func").n_unique():
        key = frame["app"] + "/" + frame["func"]
    names, function = np.unique(key.to_numpy().astype(str), return_inverse=True)
    arrival = end - work
    order = np.argsort(arrival, kind="stable")
    return Rows(
        names=tuple(names.tolist()),
        arrival=arrival[order] - arrival[order[0]],
        function=function[order].astype(np.int32),
        work=np.ascontiguousarray(work[order]),
        notes=("arrival = end_timestamp - duration",),
    )
