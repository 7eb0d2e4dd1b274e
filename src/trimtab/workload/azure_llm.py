"""Azure LLM inference: a row a request with TIMESTAMP, ContextTokens and GeneratedTokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.workload import AzureLlmSpec
from trimtab.workload.rows import Rows
from trimtab.workload.table import Floats
from trimtab.workload.trace_file import check_numbers, check_order, find_trace, read_table


def read_azure_llm(spec: AzureLlmSpec) -> Rows:
    """Requests of one function named llm; its work is linear in the tokens."""
    import polars

    path = find_trace(spec.path)
    columns = {"TIMESTAMP": polars.String, "ContextTokens": polars.Float64, "GeneratedTokens": polars.Float64}
    frame = read_table(path, columns)
    context, generated = frame["ContextTokens"].to_numpy(), frame["GeneratedTokens"].to_numpy()
    check_numbers(path, "ContextTokens", context)
    check_numbers(path, "GeneratedTokens", generated)
    arrival = timestamps(path, "TIMESTAMP", frame["TIMESTAMP"])
    check_order(path, "TIMESTAMP", arrival, frame["TIMESTAMP"].to_list())
    return Rows(
        names=("llm",),
        arrival=arrival - arrival[0],
        function=np.zeros(len(arrival), np.int32),
        work=spec.seconds_per_context_token * context + spec.seconds_per_generated_token * generated,
        notes=(
            f"work = {spec.seconds_per_context_token:g} s a context token "
            f"+ {spec.seconds_per_generated_token:g} s a generated one (assumed)",
        ),
    )


def timestamps(path: Path, name: str, column: object) -> Floats:
    """Seconds from ISO timestamps such as 2023-11-16 18:17:03.9799600."""
    import polars

    assert isinstance(column, polars.Series)
    text = column.str.strip_chars().str.replace("T", " ").str.replace(r"(Z|[+]00:00)$", "")
    parsed = text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    bad = parsed.is_null()
    if bad.any():
        row = int(bad.arg_true()[0])
        raise TrimtabError(
            f"{path}: row {row + 1}: {name} = {column[row]!r}, must be a time such as 2023-11-16 18:17:03.98"
        )
    return np.asarray(parsed.dt.epoch("us").to_numpy() / 1e6)
