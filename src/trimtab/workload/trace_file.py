"""Finding and reading trace files; whatever is wrong with one is one line with its name and row."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trimtab.errors import TrimtabError, did_you_mean
from trimtab.workload.table import Floats

if TYPE_CHECKING:
    import polars

TRACES = "TRIMTAB_TRACES"
"""Environment variable with the folder in which relative paths are looked up too."""


def find_trace(path: str) -> Path:
    """The file or folder as given, or under ``$TRIMTAB_TRACES``."""
    given = Path(path).expanduser()
    folder = os.environ.get(TRACES)
    places = [given] if given.is_absolute() or not folder else [given, Path(folder) / given]
    for place in places:
        try:
            if place.exists():
                return place
        except (OSError, ValueError) as error:
            raise TrimtabError(f"{path[:80]}: cannot be read: {error}") from error
    hint = "" if folder or given.is_absolute() else f" (set {TRACES} to look in another folder too)"
    raise TrimtabError(f"{path}: no such file or folder{hint}")


def read_header(path: Path) -> list[str]:
    """Names of the columns of a CSV or Parquet file."""
    import polars

    try:
        if path.suffix == ".parquet":
            return list(polars.read_parquet_schema(path))
        return polars.read_csv(path, n_rows=0, infer_schema=False).columns
    except Exception as error:
        raise _trouble(path, error) from error


def read_table(path: Path, columns: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> polars.DataFrame:
    """Columns of a CSV or Parquet file by name and polars type, complete and in range for that type."""
    import polars

    header = read_header(path)
    require(path, header, list(columns))
    wanted: dict[Any, Any] = dict(columns) | {name: kind for name, kind in (optional or {}).items() if name in header}
    try:
        if path.suffix == ".parquet":
            frame = polars.read_parquet(path, columns=list(wanted)).cast(wanted)
        else:
            frame = polars.read_csv(path, columns=list(wanted), schema_overrides=wanted)
    except (polars.exceptions.ComputeError, polars.exceptions.InvalidOperationError) as error:
        raise _first_bad(path, wanted) or _trouble(path, error) from error
    except Exception as error:
        raise _trouble(path, error) from error
    for name in wanted:
        if frame[name].null_count():
            row = int(frame[name].is_null().arg_true()[0])
            raise TrimtabError(f"{path}: row {row + 1}: {name} is empty, is the file truncated?")
    if frame.height == 0:
        raise TrimtabError(f"{path}: has no rows")
    return frame.select(list(wanted))


def require(path: Path, header: Sequence[str], columns: Sequence[str]) -> None:
    """Complain about the first column that is not there."""
    for name in columns:
        if name not in header:
            shown = ", ".join(header[:12]) + (" …" if len(header) > 12 else "")
            raise TrimtabError(f"{path}: column {name!r} is missing{did_you_mean(name, header)} (has: {shown})")


def check_numbers(path: Path, name: str, values: Floats, *, above_zero: bool = False) -> None:
    """Numbers of a trace are finite and not negative."""
    wrong = ~np.isfinite(values) | (values <= 0 if above_zero else values < 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        must = "above 0" if above_zero else "0 or more"
        raise TrimtabError(f"{path}: row {row + 1}: {name} = {values[row]:g}, must be finite and {must}")


def check_order(path: Path, name: str, values: Floats, shown: Sequence[Any] | None = None) -> None:
    """Times of a trace do not fall."""
    falls = np.diff(values) < 0
    if falls.any():
        row = int(np.argmax(falls)) + 1
        labels = values if shown is None else shown
        raise TrimtabError(
            f"{path}: row {row + 1}: {name} = {labels[row]} is before {labels[row - 1]} in the row above, "
            "must be in order of time"
        )


def _first_bad(path: Path, wanted: Mapping[str, Any]) -> TrimtabError | None:
    """Read all as text to name the first value that is not what it should be."""
    import polars

    try:
        frame = polars.read_csv(path, columns=list(wanted), infer_schema=False, truncate_ragged_lines=True)
    except Exception:
        return None
    for name, kind in wanted.items():
        if kind == polars.String:
            continue
        bad = frame[name].is_not_null() & frame[name].str.strip_chars().cast(kind, strict=False).is_null()
        if bad.any():
            row = int(bad.arg_true()[0])
            what = "a whole number" if kind.is_integer() else "a number"
            return TrimtabError(f"{path}: row {row + 1}: {name} = {frame[name][row]!r}, must be {what}")
    return None


def _trouble(path: Path, error: Exception) -> TrimtabError:
    import polars

    if isinstance(error, polars.exceptions.NoDataError):
        return TrimtabError(f"{path}: is empty")
    text = " ".join(str(error).split())
    if "utf-8" in text.lower() or "utf8" in text.lower():
        return TrimtabError(f"{path}: not UTF-8 text")
    return TrimtabError(f"{path}: cannot be read: {text[:160]}")
