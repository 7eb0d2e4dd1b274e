"""A trace of one's own: CSV or Parquet with arrival (s), function, work (core-seconds), and maybe off_cpu."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from trimtab.workload.rows import Rows
from trimtab.workload.trace_file import check_numbers, check_order, find_trace, read_table


def read_requests(path: str) -> Rows:
    """The trace; arrivals must not fall, and stay as they are (0 is the start of the run)."""
    found = find_trace(path)
    return _read(found, found.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read(path: Path, stamp: int) -> Rows:
    import polars

    columns = {"arrival": polars.Float64, "function": polars.String, "work": polars.Float64}
    frame = read_table(path, columns, {"off_cpu": polars.Float64})
    arrival, work = frame["arrival"].to_numpy(), frame["work"].to_numpy()
    check_numbers(path, "arrival", arrival)
    check_numbers(path, "work", work)
    check_order(path, "arrival", arrival)
    off_cpu = frame["off_cpu"].to_numpy() if "off_cpu" in frame.columns else np.empty(0)
    if len(off_cpu):
        check_numbers(path, "off_cpu", off_cpu)
    # in order of first use, whatever the names are
    names = frame["function"].unique(maintain_order=True)
    function = frame["function"].replace_strict(names, np.arange(len(names)), return_dtype=polars.Int32)
    return Rows(tuple(names.to_list()), arrival, function.to_numpy(), work, off_cpu)
