"""Output files: each is written whole or not at all, and the same runs give the same bytes."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.sim.outcome import Outcome
from trimtab.whole import whole as written_whole

if TYPE_CHECKING:
    import polars

MOST_ROWS = 5_000_000
"""Above this, ``requests.parquet`` holds the first seed only."""

STATUSES = ("completed", "failed", "rejected")


def prepare_folder(path: Path) -> Path:
    """Make the output folder and prove that it can be written, before anything runs."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise TrimtabError(f"out = {str(path)!r}, must be a folder that can be written: {_reason(error)}") from None
    return path


def prepare_file(path: Path) -> Path:
    """Prove that a file can be written where ``path`` says; its folder is made if need be."""
    if path.is_dir():
        raise TrimtabError(f"file = {str(path)!r}, must be a file: it is a folder")
    prepare_folder(path.parent)
    return path


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path``, which takes its place if the block ends well; else one line says why."""
    try:
        with written_whole(path) as temporary:
            yield temporary
    except OSError as error:
        raise TrimtabError(f"file = {str(path)!r}, must be writable: {_reason(error)}") from error


def write_text(path: Path, text: str) -> Path:
    """Write a text file, whole."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def write_json(path: Path, content: Mapping[str, Any]) -> Path:
    """Write JSON for people and programs: indented, keys in their given order, no NaN."""
    return write_text(path, json_text(content))


def json_text(content: Mapping[str, Any]) -> str:
    """The text that :func:`write_json` writes."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def put_json(where: str, content: Mapping[str, Any]) -> None:
    """Write JSON to a file, or to standard output where that is ``-``."""
    if where == "-":
        sys.stdout.write(json_text(content))
    else:
        write_json(Path(where), content)


def write_requests(path: Path, outcomes: Sequence[Outcome], most_rows: int = MOST_ROWS) -> Path:
    """Write ``requests.parquet``: a row a request, with policy and seed.

    Above ``most_rows`` rows in all, only the first seed is written.
    """
    kept = list(outcomes)
    if sum(len(outcome.arrival) for outcome in kept) > most_rows:
        first = min(outcome.seed for outcome in kept)
        kept = [outcome for outcome in kept if outcome.seed == first]
    return write_parquet(path, [_request_frame(outcome) for outcome in kept])


def write_series(path: Path, outcomes: Sequence[Outcome]) -> Path:
    """Write ``series.parquet``: in-flight, CPU, instances, power … over time, by policy and seed."""
    names = list(dict.fromkeys(name for outcome in outcomes for name in outcome.series))
    return write_parquet(path, [_series_frame(outcome, names) for outcome in outcomes])


def write_parquet(path: Path, frames: list[polars.DataFrame]) -> Path:
    """Write tables of the same columns one below the other, whole."""
    import polars

    frame = polars.concat(frames) if frames else polars.DataFrame()
    with whole(path) as temporary:
        # One size of row group and one codec, and nothing in the metadata that depends on the clock.
        frame.write_parquet(temporary, compression="zstd", compression_level=3, row_group_size=1 << 18)
    return path


def _request_frame(outcome: Outcome) -> polars.DataFrame:
    import polars

    rows = len(outcome.arrival)
    return polars.DataFrame(
        {
            "policy": polars.repeat(outcome.policy, rows, eager=True).cast(polars.Categorical),
            "seed": np.full(rows, outcome.seed, dtype=np.int64),
            "function": _names(outcome.functions, outcome.function),
            "arrival_s": outcome.arrival,
            "start_s": _nullable(outcome.start),
            "completion_s": _nullable(outcome.completion),
            "fct_s": _nullable(outcome.fct),
            "host": _names(outcome.hosts, outcome.host),
            "worker": _names(outcome.workers, outcome.worker),
            "cold": outcome.cold,
            "late": outcome.late,
            "accurate": outcome.accurate,
            "status": _names(STATUSES, outcome.status.astype(np.int32)),
        }
    ).with_columns(polars.col("policy", "function", "host", "worker", "status").cast(polars.String))


def _series_frame(outcome: Outcome, names: Sequence[str]) -> polars.DataFrame:
    import polars

    rows = max((len(values) for values in outcome.series.values()), default=0)
    columns: dict[str, Any] = {
        "policy": polars.repeat(outcome.policy, rows, eager=True),
        "seed": np.full(rows, outcome.seed, dtype=np.int64),
    }
    for name in names:
        values = outcome.series.get(name)
        if values is not None and len(values) == rows:
            columns[name] = _nullable(values)
        else:
            columns[name] = polars.Series([None] * rows, dtype=polars.Float64)
    return polars.DataFrame(columns)


def _names(names: Sequence[str], index: Any) -> polars.Series:
    """Names by index; null where the index is -1 or there are no names."""
    import polars

    if not names:
        return polars.Series([None] * len(index), dtype=polars.String)
    table = polars.Series(list(names), dtype=polars.String)
    positions = polars.Series(np.asarray(index, dtype=np.int64))
    inside = (positions >= 0) & (positions < len(names))
    frame = polars.DataFrame({"position": positions, "inside": inside})
    safe = frame.select(polars.when("inside").then("position").otherwise(None).cast(polars.UInt32).alias("index"))
    return table.gather(safe["index"])


def _nullable(values: Any) -> polars.Series:
    import polars

    return polars.Series(np.asarray(values, dtype=np.float64)).fill_nan(None)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
