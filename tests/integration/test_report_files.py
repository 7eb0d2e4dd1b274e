"""Output files: whole or not at all, and the same bytes every time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from tests import outcomes

from trimtab.errors import TrimtabError
from trimtab.report.files import (
    prepare_file,
    prepare_folder,
    whole,
    write_json,
    write_requests,
    write_series,
)
from trimtab.report.frontier import frontier
from trimtab.report.frontier_page import write_frontier
from trimtab.report.perfetto import write_trace
from trimtab.sim.outcome import REJECTED


def test_requests_are_a_row_each(tmp_path: Path) -> None:
    run = outcomes.outcome(
        [1.0, float("nan")],
        status=np.array([0, REJECTED], np.int8),
        host=np.array([0, -1], np.int32),
        cold=np.array([True, False]),
    )
    frame = polars.read_parquet(write_requests(tmp_path / "requests.parquet", [run]))
    assert frame.rows(named=True)[0] == {
        "policy": "hashing", "seed": 1, "function": "f", "arrival_s": 0.0, "start_s": 0.0,
        "completion_s": 1.0, "fct_s": 1.0, "host": "host-0", "worker": None, "cold": True, "late": False,
        "accurate": True, "status": "completed",
    }  # fmt: skip
    second = frame.rows(named=True)[1]
    assert (second["status"], second["host"], second["fct_s"]) == ("rejected", None, None)


def test_above_the_limit_only_the_first_seed_is_written(tmp_path: Path) -> None:
    runs = [outcomes.outcome(seed=seed) for seed in (7, 5, 6)]
    assert polars.read_parquet(write_requests(tmp_path / "a", runs, most_rows=9)).height == 9
    frame = polars.read_parquet(write_requests(tmp_path / "b", runs, most_rows=8))
    assert frame["seed"].to_list() == [5, 5, 5]


def test_series_of_all_policies_have_the_same_columns(tmp_path: Path) -> None:
    runs = [outcomes.place(), outcomes.scale("hpa"), outcomes.outcome(policy="empty")]
    frame = polars.read_parquet(write_series(tmp_path / "series.parquet", runs))
    assert {"policy", "seed", "time", "inflight", "instances"} <= set(frame.columns)
    assert frame.filter(polars.col("policy") == "hashing")["instances"].null_count() == 400


def test_same_runs_same_bytes(tmp_path: Path) -> None:
    runs = outcomes.comparison((1, 2))
    for writer in (write_requests, write_series):
        first, second = writer(tmp_path / "first", runs), writer(tmp_path / "second", runs)
        assert first.read_bytes() == second.read_bytes()


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = write_json(tmp_path / "summary.json", {"a": 1})
    with pytest.raises(KeyboardInterrupt), whole(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert json.loads(path.read_text()) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["summary.json"]


def test_not_a_number_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "summary.json", {"a": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_unwritable_folders_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(TrimtabError, match="must be a folder that can be written") as error:
            prepare_folder(path)
        assert "\n" not in str(error.value)
    with pytest.raises(TrimtabError, match="it is a folder"):
        prepare_file(tmp_path)
    assert prepare_folder(tmp_path / "new" / "folder").is_dir()
    assert prepare_file(tmp_path / "other" / "x.json").parent.is_dir()


def test_files_have_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    path = write_json(tmp_path / "summary.json", {})
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_trace_and_frontier_are_written(tmp_path: Path) -> None:
    assert write_trace(tmp_path / "trace.json", outcomes.place()) == 0
    assert json.loads((tmp_path / "trace.json").read_text())["otherData"]["policy"] == "hashing"
    result = frontier({"hpa": [(1, 0.01, 2.0, 3.0)]}, scenario="s")
    assert "<title>s: what fewer violations cost" in write_frontier(tmp_path / "f.html", result).read_text()
