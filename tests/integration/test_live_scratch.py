"""Folders of processes that were killed are removed by the next start; all others stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from trimtab.live import scratch

HOLDS = """
import sys
from trimtab.live.scratch import Scratch
folder = Scratch()
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_only_what_a_killed_process_left_is_swept(temporary: Path) -> None:
    (temporary / "trimtab-run-of-somebody-else").mkdir()
    (temporary / "trimtab-state-with-a-ledger").mkdir()
    (temporary / "trimtab-state-with-a-ledger" / "alive").touch()
    kept = scratch.Scratch()
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    left = Path(process.stdout.readline().strip())
    home = left / "server0"
    home.mkdir()
    function = subprocess.Popen(["sleep", "60"], env={"TMPDIR": str(home)})
    other = subprocess.Popen(["sleep", "60"], env={"TMPDIR": str(kept.path / "server0")})
    scratch.sweep()
    assert left.is_dir()  # its process lives
    assert function.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()
    scratch.sweep()
    assert not left.exists()
    assert function.wait(5.0) == -signal.SIGKILL
    assert other.poll() is None
    other.kill()
    other.wait()
    assert kept.path.is_dir()
    kept.remove()
    left_over = {"trimtab-run-of-somebody-else", "trimtab-state-with-a-ledger"}
    assert {each.name for each in temporary.iterdir()} == left_over
