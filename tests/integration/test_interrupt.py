"""Ctrl-C ends a command within a second and leaves nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.commands import files

COMMAND = [sys.executable, "-c", "from trimtab.cli import main; main()"]
SLACK = 1.0
"""Seconds beyond the promised one, for machines that are busy with other tests."""


def interrupt(process: subprocess.Popen[str]) -> float:
    """Press Ctrl-C; returns how long the process took to end."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.wait(30)
    return time.monotonic() - began


def test_during_a_run(tmp_path: Path) -> None:
    arguments = [
        "compare",
        "peers-b",
        "--policies",
        "hashing,least-connections",
        "--seeds",
        "1",
        "--out",
        "a/b",
    ]
    long = ["--set", "workload.requests=30000000"]
    warm = [*COMMAND, *arguments, "--set", "workload.requests=1000"]
    subprocess.run(warm, cwd=tmp_path, check=True, capture_output=True)
    before = files(tmp_path)
    with subprocess.Popen(
        [*COMMAND, *arguments, *long], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(6)  # the workload is drawn by now, and the engine runs
        assert process.poll() is None
        assert interrupt(process) < 1 + SLACK
        assert process.returncode == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert files(tmp_path) == before


def test_while_kernels_are_compiled(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    with subprocess.Popen(
        [*COMMAND, "compare", "faasrank-m2", "--out", "o"], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "TRIMTAB_CACHE": str(kernels)},
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Compiling the engine")
        time.sleep(4)
        assert interrupt(process) < 1 + SLACK
        assert process.returncode == 130
        assert "Traceback" not in process.stderr.read()
    assert [path.name for path in tmp_path.iterdir()] == ["kernels"]
