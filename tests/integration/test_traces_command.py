"""The commands around scenarios and traces, as a person runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def trimtab(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from trimtab.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)


def test_scenarios_lists_every_preset() -> None:
    result = trimtab("scenarios")
    assert result.returncode == 0
    for name in ("faasrank-canada", "peers-c", "aset-city", "joint-edge"):
        assert name in result.stdout


def test_version() -> None:
    assert trimtab("--version").stdout.startswith("trimtab ")


def test_new_then_validate(tmp_path: Path) -> None:
    assert trimtab("new", "mine.yaml", folder=tmp_path).returncode == 0
    assert "#" in (tmp_path / "mine.yaml").read_text()
    result = trimtab("validate", "mine.yaml", folder=tmp_path)
    assert result.returncode == 0
    assert result.stdout.startswith("mine: valid")
    again = trimtab("new", "mine.yaml", folder=tmp_path)
    assert (again.returncode, again.stderr) == (
        2,
        "trimtab: error: mine.yaml: is there already, --force overwrites it\n",
    )
    assert trimtab("new", "mine.yaml", "--force", "--from", "faasrank-m3", folder=tmp_path).returncode == 0
    assert "201 requests in 44 s" in trimtab("validate", "mine.yaml", folder=tmp_path).stdout
    assert [file.name for file in tmp_path.iterdir()] == ["mine.yaml"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["validate", "nothing.yaml"], "nothing.yaml: no such file"),
        (["validate", "."], ".: is a folder, must be a .yaml file"),
        (["validate", "latin.yaml"], "latin.yaml: line 1: not UTF-8 text (byte 0xe9)"),
        (
            ["validate", "peers-a", "--set", "workload.rate=-1"],
            "peers-a: workload.rate = -1, must be 0 or more",
        ),
        (["new", "no/such/folder.yaml"], "no/such/folder.yaml: cannot be written: No such file or directory"),
        (["new", "x.yaml", "--from", "peers-z"], "scenario = 'peers-z', must be one of: "),
        (["workload", "describe"], "workload describe: must have a FILE or --scenario NAME"),
        (["workload", "describe", "empty.csv"], "empty.csv: is empty"),
        (["workload", "describe", "trace.csv", "--json", "no/such.json"], "no/such.json: cannot be written"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], line: str) -> None:
    (tmp_path / "latin.yaml").write_bytes("name: é".encode("latin-1"))
    (tmp_path / "empty.csv").touch()
    (tmp_path / "trace.csv").write_text("arrival,function,work\n0.5,web,0.2\n")
    before = sorted(tmp_path.rglob("*"))
    result = trimtab(*arguments, folder=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith(f"trimtab: error: {line}")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_describe_a_trace(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("arrival,function,work\n0,web,0.2\n30,job,3\n120,web,0.4\n")
    result = trimtab("workload", "describe", "trace.csv", "--json", "out.json", folder=tmp_path)
    assert result.returncode == 0
    assert "busiest function" in result.stdout
    figures = json.loads((tmp_path / "out.json").read_text())
    assert figures["requests"] == 3
    assert figures["busy_cores"] == pytest.approx(3.6 / 120)
    assert figures["busiest_function_share"] == pytest.approx(2 / 3)


def test_describe_a_scenario() -> None:
    result = trimtab("workload", "describe", "--scenario", "faasrank-canada", "--seed", "3")
    assert result.returncode == 0
    assert "292" in result.stdout


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nsys.argv = ['trimtab', '--help']\nfrom trimtab.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'polars', 'plotly', 'torch', 'scipy', 'pydantic', 'numpy'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr


def test_a_reader_that_leaves_early_is_no_error() -> None:
    code = "from trimtab.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "scenarios"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_interrupt_ends_with_130_and_no_traceback(tmp_path: Path) -> None:
    code = (
        "import os, signal, threading, time\n"
        # where the tests run in the background, an interrupt is ignored by those that they start
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from trimtab.cli import main\n"
        "import trimtab.scenario.load as load\n"
        "def slow(*_):\n"
        "    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "    time.sleep(30)\n"
        "load.load_scenario = slow\nmain()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, "validate", "peers-a"],
        capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert result.returncode == 130
    assert "Traceback" not in result.stderr
