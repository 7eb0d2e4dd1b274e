"""``trimtab compare`` from the command to the files."""

from __future__ import annotations

import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.commands import files, trimtab

from trimtab.policies import registry

FILES = ["report.html", "requests.parquet", "series.parquet", "summary.json", "timings.json"]
COMMAND = [sys.executable, "-c", "from trimtab.cli import main; main()"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a comparison of three policies over two seeds has been run."""
    folder = tmp_path_factory.mktemp("compare")
    result = trimtab(
        "compare", "faasrank-canada", "--policies", "hashing,least-connections,warm-first", "--seeds", "2",
        "--out", "made/here", "--trace", folder=folder,
    )  # fmt: skip
    assert result.code == 0, result.err
    (folder / "stdout").write_text(result.out)
    (folder / "stderr").write_text(result.err)
    return folder


@pytest.fixture(scope="module")
def summary(run: Path) -> Any:
    return json.loads((run / "made/here/summary.json").read_text())


def test_files(run: Path) -> None:
    traces = ["trace-hashing.json", "trace-least-connections.json", "trace-warm-first.json"]
    assert sorted(path.name for path in (run / "made/here").iterdir()) == [*FILES, *traces]


def test_summary_has_the_promised_shape(summary: Any) -> None:
    assert summary["scenario"] == "faasrank-canada"
    assert (summary["seeds"], summary["baseline"], summary["decision"]) == ([1, 2], "hashing", "place")
    for figures in summary["policies"].values():
        assert set(figures) >= {
            "requests", "completed", "rejected", "failed", "late", "success_rate", "mean_fct_s", "p50_fct_s",
            "p95_fct_s", "p99_fct_s", "throughput_rps", "cold_start_rate", "cost_usd", "energy_kwh",
            "cpu_utilisation", "cpu_utilisation_active", "jain_fairness", "mean_inflight", "instance_seconds",
            "starts_stops", "vs_baseline",
        }  # fmt: skip
        assert figures["requests"] == figures["completed"] + figures["failed"] + figures["rejected"] == 292
    change = summary["policies"]["warm-first"]["vs_baseline"]["mean_fct_s"]
    assert change["ci95"][0] <= change["change"] <= change["ci95"][1]
    assert "timings" not in summary, "wall-clock figures have a file of their own"


def test_a_figure_that_the_scenario_does_not_have_is_absent(summary: Any, tmp_path: Path) -> None:
    # no function of this scenario has a deadline
    assert "sla_violation_rate" not in summary["policies"]["hashing"]
    peers = trimtab("compare", "peers-a", "--policies", "hashing", "--seeds", "1", "--json", "-", folder=tmp_path)
    assert not {"cost_usd", "energy_kwh", "sla_violation_rate"} & peers.json["policies"]["hashing"].keys()


def test_requests_agree_with_the_summary(run: Path, summary: Any) -> None:
    rows = polars.read_parquet(run / "made/here/requests.parquet")
    assert rows.height == 3 * 2 * 292
    means = rows.group_by("policy").agg(polars.col("fct_s").mean())
    for policy, mean in means.iter_rows():
        assert mean == pytest.approx(summary["policies"][policy]["mean_fct_s"])


def test_every_policy_sees_the_same_arrivals(run: Path) -> None:
    rows = polars.read_parquet(run / "made/here/requests.parquet")
    seen = [rows.filter(policy=name).select("seed", "function", "arrival_s") for name in ("hashing", "warm-first")]
    assert seen[0].equals(seen[1])
    assert not rows.filter(seed=1)["arrival_s"].equals(rows.filter(seed=2)["arrival_s"])


def test_table_and_rows(run: Path) -> None:
    out, err = (run / "stdout").read_text(), (run / "stderr").read_text()
    assert "hashing *" in out
    assert "vs hashing" in out
    assert out.rstrip().endswith("made/here/report.html")
    # a row for each policy as it finishes, in the order of the command
    assert [line.split()[0] for line in err.splitlines()] == [
        "policy",
        "hashing",
        "least-connections",
        "warm-first",
    ]


def test_report_shows_the_command_without_where_and_how_fast(run: Path) -> None:
    page = (run / "made/here/report.html").read_text()
    assert "trimtab compare faasrank-canada --policies hashing,least-connections,warm-first --seeds 2 --trace" in page
    assert "made/here" not in page


def test_without_policies_all_of_the_decision_run(tmp_path: Path) -> None:
    summary = trimtab("compare", "faasrank-m2", "--seeds", "7,", "--json", "-", folder=tmp_path).json
    assert summary["seeds"] == [7]
    assert list(summary["policies"]) == list(registry.names("place"))
    assert {"faasrank", "rank"} <= set(summary["policies"])
    assert "ci95" not in summary["policies"]["greedy"]["vs_baseline"]["mean_fct_s"]


def test_json_to_a_file_writes_nothing_else(tmp_path: Path) -> None:
    result = trimtab(
        "compare", "faasrank-m2", "--policies", "hashing", "--seeds", "1", "--json", "x.json", folder=tmp_path
    )
    assert (result.code, result.out, result.err) == (0, "", "")
    assert files(tmp_path) == ["x.json"]
    assert json.loads((tmp_path / "x.json").read_text())["timings"]["hashing"]["decision_us"] > 0


def test_json_and_a_folder_together(tmp_path: Path) -> None:
    arguments = [
        "compare",
        "faasrank-m2",
        "--policies",
        "hashing",
        "--seeds",
        "1",
        "--out",
        "o",
        "--json",
        "x.json",
    ]
    assert trimtab(*arguments, folder=tmp_path).code == 0
    assert files(tmp_path) == ["o", *(f"o/{name}" for name in FILES), "x.json"]


def test_baseline_is_the_first_where_the_scenario_s_own_is_not_run(tmp_path: Path) -> None:
    arguments = ["compare", "faasrank-m2", "--policies", "greedy,random", "--seeds", "1", "--json", "-"]
    assert trimtab(*arguments, folder=tmp_path).json["baseline"] == "greedy"


def test_set_changes_the_scenario(tmp_path: Path) -> None:
    arguments = ["compare", "faasrank-m2", "--policies", "hashing", "--seeds", "1", "--json", "-"]
    found = trimtab(*arguments, "--set", "workload.calls=50", folder=tmp_path).json
    assert found["policies"]["hashing"]["requests"] == 50


def test_several_decisions(tmp_path: Path) -> None:
    arguments = [
        "compare",
        "joint-edge",
        "--policies",
        "route/power-of-two,place/random,scale/fixed",
        "--seeds",
        "1",
    ]
    summary = trimtab(*arguments, "--json", "-", folder=tmp_path).json
    assert list(summary["policies"]) == ["route/power-of-two", "place/random", "scale/fixed"]


def test_other_commands_list_what_there_is(tmp_path: Path) -> None:
    assert "drain-ahead" in trimtab("policies", "place", folder=tmp_path).out
    assert trimtab("policies", "plaice", folder=tmp_path).complaint.endswith("did you mean 'place'?")
    assert "compare" in trimtab(folder=tmp_path).out
    assert "describe" in trimtab("workload", folder=tmp_path).out


def in_terminal(columns: int, folder: Path) -> str:
    """What a terminal of so many columns shows, control codes included."""
    primary, secondary = pty.openpty()
    ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    arguments = [
        "compare",
        "faasrank-m2",
        "--policies",
        "hashing,shortest-completion",
        "--seeds",
        "3",
        "--out",
        "o",
    ]
    clean = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(
        [*COMMAND, *arguments], stdin=secondary, stdout=secondary, stderr=secondary, cwd=folder,
        env=clean | {"TERM": "xterm"},
    ) as process:  # fmt: skip
        os.close(secondary)
        shown = b""
        while True:
            try:
                part = os.read(primary, 65_536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        assert process.wait(60) == 0, shown
    os.close(primary)
    return shown.decode()


@pytest.mark.parametrize("columns", [80, 120])
def test_lines_fit_the_terminal(columns: int, tmp_path: Path) -> None:
    shown = in_terminal(columns, tmp_path)
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown))
    assert max(map(len, lines)) <= columns
    assert "shortest-completion" in shown
    # rows and bar are wiped (cursor up, erase line) before the table comes
    assert shown.rindex("\x1b[1A") < shown.rindex("95 % interval")


def test_the_first_row_comes_while_others_still_run(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "compare", "faasrank-canada", "--out", "o"], cwd=tmp_path, text=True,
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        lines = [process.stderr.readline(), process.stderr.readline()]
        running = process.poll() is None
        process.stderr.read()
    assert process.returncode == 0
    assert lines[0].startswith("policy")
    assert lines[1].startswith("hashing")
    assert running


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "compare", "faasrank-m2", "--policies", "hashing", "--seeds", "1", "--json", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
