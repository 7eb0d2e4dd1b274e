"""Asynchronous calls end whatever the ledger goes through, and none holds up those of other functions."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from trimtab.live.calling import Reply
from trimtab.live.failure import CallFailed
from trimtab.live.function import FunctionSpec
from trimtab.live.later import Later
from trimtab.live.ledger import Ledger


class Function:
    """Deployed, as far as a call asks."""

    def __init__(self, name: str) -> None:
        self.name, self.spec = name, FunctionSpec(code="pass")


class World:
    """A platform whose functions do what a test says."""

    def __init__(self, **functions: Callable[[], Any]) -> None:
        self.functions = {name: Function(name) for name in functions}
        self.servers: list[Any] = []
        self.calling, self._work = self, functions

    async def call(self, function: Function, body: bytes, activation: str | None) -> Reply:
        await self._work[function.name]()
        return Reply(activation or "", b"{}", "server0", False, 0.0, 0.0)


async def nothing() -> None:
    """Answers at once."""


async def sleeps() -> None:
    await asyncio.sleep(600.0)


def opened(path: Path) -> Ledger:
    ledger = Ledger(path)
    ledger._connection.execute("PRAGMA busy_timeout = 20")
    return ledger


async def until(ledger: Ledger, status: str, count: int) -> None:
    async with asyncio.timeout(20.0):
        while (await ledger.counts())[status] < count:
            await asyncio.sleep(0.01)


def test_a_locked_ledger_strands_no_call_before_or_after_it_ran(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger, other = opened(path), sqlite3.connect(path, isolation_level=None)
    running, done = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        running.set()
        await done.wait()

    async def story() -> None:
        later = Later(cast(Any, World(one=work)), ledger)
        await later.accept("one", b"{}")  # its beginning is written in a task of its own, which finds it locked
        other.execute("BEGIN IMMEDIATE")
        await asyncio.sleep(0.3)
        assert not running.is_set()
        other.execute("ROLLBACK")
        await asyncio.wait_for(running.wait(), 10.0)
        other.execute("BEGIN IMMEDIATE")
        done.set()
        await asyncio.sleep(0.3)
        with pytest.raises(CallFailed, match="could not be written to the ledger") as refused:
            await later.accept("one", b"{}")
        assert refused.value.status == 503
        other.execute("ROLLBACK")
        await until(ledger, "completed", 1)
        await later.close()

    asyncio.run(story())
    other.close()
    ledger.close()


def test_calls_that_sleep_do_not_hold_up_another_function(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")

    async def story() -> float:
        later = Later(cast(Any, World(slow=sleeps, quick=nothing)), ledger)
        for _ in range(100):
            await later.accept("slow", b"{}")
        await until(ledger, "running", 64)
        began = time.monotonic()
        for _ in range(20):
            await later.accept("quick", b"{}")
        await until(ledger, "completed", 20)
        await later.close()
        return time.monotonic() - began

    assert asyncio.run(story()) < 10.0
    ledger.close()


def test_a_text_that_cannot_be_stored_still_ends_its_call(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")

    async def fails() -> None:
        raise CallFailed(502, "it said \ud800")

    async def story() -> dict[str, Any] | None:
        later = Later(cast(Any, World(one=fails)), ledger)
        activation = await later.accept("one", b"{}")
        await until(ledger, "failed", 1)
        await later.close()
        return await ledger.find(activation)

    row = asyncio.run(story())
    assert row is not None
    assert row["error"] == "it said ?"
    ledger.close()


def test_orders_are_kept_and_forgotten(tmp_path: Path) -> None:
    ledger = opened(tmp_path / "ledger.sqlite")

    async def story() -> dict[str, str]:
        await ledger.order("a", "1")
        await ledger.order("a", "2")
        await ledger.order("b", "3")
        await ledger.order("b", None)
        return await ledger.orders()

    assert asyncio.run(story()) == {"a": "2"}
    ledger.close()
