"""The ledger outlives what it cannot write, and a state folder belongs to one platform."""

from __future__ import annotations

import asyncio
import fcntl
import sqlite3
from pathlib import Path

import pytest
from tests.commands import trimtab

from trimtab.live.ledger import Ledger


def test_a_text_that_cannot_be_stored_is_its_writers_problem_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")

    async def story() -> dict[str, int]:
        await asyncio.gather(ledger.accept("a", "f", b"{}"), ledger.accept("b", "f", b"{}"))
        # both in one transaction: the first is undone, the second stays
        failed, fine = await asyncio.gather(
            ledger.end("a", None, "\ud800"), ledger.end("b", b"{}", None), return_exceptions=True
        )
        assert isinstance(failed, UnicodeEncodeError) and fine is None
        await ledger.end("a", None, "told in another way")
        return await ledger.counts()

    assert asyncio.run(asyncio.wait_for(story(), 10.0)) == {"queued": 0, "running": 0, "completed": 1, "failed": 1}
    ledger.close()


def test_a_locked_file_is_an_error_and_the_next_write_goes_through(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger._connection.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(path, isolation_level=None)

    async def story() -> dict[str, int]:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            await ledger.accept("a", "f", b"{}")
        other.execute("ROLLBACK")
        await ledger.accept("a", "f", b"{}")
        return await ledger.counts()

    assert asyncio.run(asyncio.wait_for(story(), 10.0))["queued"] == 1
    other.close()
    ledger.close()


def test_a_state_folder_in_use_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    with (tmp_path / "state" / "lock").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        told = trimtab("live", "--state", "state", "--port", "0", folder=tmp_path).complaint
    assert "must be a folder that no other trimtab live uses" in told
