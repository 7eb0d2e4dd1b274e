"""The folder of a platform's state: its files are private, a folder that was there before is left as it was."""

from __future__ import annotations

import stat
from pathlib import Path

from tests.live_platform import running_platform

from trimtab.cli.live import _prepared


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_private_and_an_old_one_stays_as_it_was(tmp_path: Path) -> None:
    assert mode(_prepared(tmp_path / "above" / "new")) == 0o700
    assert mode(tmp_path / "above") != 0o700
    old = tmp_path / "old"
    old.mkdir()
    old.chmod(0o755)
    for name in ("ledger.sqlite", "notes.txt"):
        (old / name).touch()
        (old / name).chmod(0o644)
    assert mode(_prepared(old)) == 0o755
    assert mode(old / "ledger.sqlite") == 0o600
    assert mode(old / "notes.txt") == 0o644


def test_the_ledger_is_private_in_a_folder_that_is_not(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with running_platform(state=tmp_path) as platform:
        platform.client().deploy("nothing", {"code": "def main(args):\n    return {}\n", "memory_mb": 64})
        ledger = list(tmp_path.glob("ledger*"))
        assert ledger
        assert {mode(each) for each in ledger} == {0o600}
        assert mode(tmp_path) == 0o755
