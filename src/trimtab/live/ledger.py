"""What must survive a restart: deployed functions, orders, and asynchronous calls from acceptance to end.

SQLite in one thread of its own. Whoever writes waits until it is on the disk; what comes meanwhile is written together
in the next transaction. A call is accepted when its row is there, so accepted = completed + failed + still to come.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from trimtab.errors import TrimtabError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS functions (name TEXT PRIMARY KEY, spec TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS orders (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS activations (
    id TEXT PRIMARY KEY, function TEXT NOT NULL, args BLOB NOT NULL, status TEXT NOT NULL, accepted REAL NOT NULL,
    started REAL, ended REAL, attempts INTEGER NOT NULL DEFAULT 0, result BLOB, error TEXT
);
CREATE INDEX IF NOT EXISTS unfinished ON activations (accepted) WHERE status IN ('queued', 'running');
CREATE INDEX IF NOT EXISTS finished ON activations (ended) WHERE status IN ('completed', 'failed');
"""
_VERSION = 1
_BATCH = 500
KEPT = 100_000
"""Ended calls whose results are kept, the latest."""

Work = Callable[[sqlite3.Connection], Any]
Job = tuple[Work, asyncio.Future[Any], asyncio.AbstractEventLoop]


class Ledger:
    """The file, and the thread that writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _VERSION):
                raise TrimtabError(f"{path}: version {version}, must be {_VERSION}: it was made by another Trimtab")
            self._connection.executescript(_SCHEMA + f"PRAGMA user_version = {_VERSION};")
        except sqlite3.Error as error:
            raise TrimtabError(
                f"{path}: {error}; must be a ledger of Trimtab, in a folder that can be written"
            ) from None
        self._thread = threading.Thread(target=self._write, name="ledger", daemon=True)
        self._thread.start()

    def _write(self) -> None:
        while True:
            batch = [self._jobs.get()]
            while len(batch) < _BATCH and not self._jobs.empty():
                batch.append(self._jobs.get())
            self._transact([job for job in batch if job is not None])
            if None in batch:
                self._connection.close()
                return

    def _transact(self, jobs: list[Job]) -> None:
        """All jobs in one transaction; whoever waits for one hears of it when it is on the disk."""
        done: list[tuple[Any, Exception | None]] = []
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            done = [self._attempt(work) for work, _, _ in jobs]
            self._connection.execute("COMMIT")
        except Exception as refused:  # a full disk, a lock: this thread must outlive it, others write through it
            done = [(None, refused)] * len(jobs)
            with suppress(sqlite3.Error):  # SQLite may have undone it already
                self._connection.execute("ROLLBACK")
        for (_, future, loop), (value, error) in zip(jobs, done, strict=True):
            with suppress(RuntimeError):  # its loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, future, value, error)

    def _attempt(self, work: Work) -> tuple[Any, Exception | None]:
        """One job; if it fails, what it did is undone and the others stay."""
        self._connection.execute("SAVEPOINT job")
        try:
            value = work(self._connection)
        except Exception as error:  # also a text that cannot be stored: that is its caller's, not the thread's
            self._connection.execute("ROLLBACK TO job")
            return None, error
        finally:
            self._connection.execute("RELEASE job")
        return value, None

    async def _do(self, work: Work) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._jobs.put((work, future, loop))
        return await future

    async def _execute(self, statement: str, *values: Any) -> None:
        await self._do(lambda connection: connection.execute(statement, values))

    def close(self) -> None:
        """Write what is left."""
        self._jobs.put(None)
        self._thread.join()

    async def functions(self) -> dict[str, str]:
        """Deployments by name, as JSON."""
        return dict(await self._do(lambda connection: connection.execute("SELECT * FROM functions").fetchall()))

    async def deploy(self, name: str, spec: str) -> None:
        """Remember a deployment."""
        await self._execute("INSERT OR REPLACE INTO functions VALUES (?, ?)", name, spec)

    async def remove(self, name: str) -> None:
        """Forget a deployment."""
        await self._execute("DELETE FROM functions WHERE name = ?", name)

    async def orders(self) -> dict[str, str]:
        """What a person ordered that outlives a gateway, by name."""
        return dict(await self._do(lambda connection: connection.execute("SELECT * FROM orders").fetchall()))

    async def order(self, name: str, value: str | None) -> None:
        """Remember an order; None: forget it."""
        if value is None:
            await self._execute("DELETE FROM orders WHERE name = ?", name)
        else:
            await self._execute("INSERT OR REPLACE INTO orders VALUES (?, ?)", name, value)

    async def accept(self, activation: str, function: str, args: bytes) -> None:
        """A call is accepted from here on."""
        await self._execute(
            "INSERT INTO activations (id, function, args, status, accepted) VALUES (?, ?, ?, 'queued', ?)",
            activation, function, args, time.time(),
        )  # fmt: skip

    async def begin(self, activation: str) -> tuple[str, bytes] | None:
        """A call is about to run; its function and arguments, or None if there is none of this name."""

        def work(connection: sqlite3.Connection) -> Any:
            connection.execute(
                "UPDATE activations SET status = 'running', attempts = attempts + 1, started = ? WHERE id = ?",
                (time.time(), activation),
            )
            return connection.execute("SELECT function, args FROM activations WHERE id = ?", (activation,)).fetchone()

        found: tuple[str, bytes] | None = await self._do(work)
        return found

    async def end(self, activation: str, result: bytes | None, error: str | None) -> None:
        """A call has ended, one way or the other; its arguments are needed no more."""
        status = "completed" if error is None else "failed"

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE activations SET status = ?, ended = ?, result = ?, error = ?, args = x'' WHERE id = ?",
                (status, time.time(), result, error, activation),
            )

        await self._do(work)

    async def find(self, activation: str) -> dict[str, Any] | None:
        """One call; None if there is none of this name."""

        def work(connection: sqlite3.Connection) -> Any:
            cursor = connection.execute(
                "SELECT id, function, status, accepted, started, ended, attempts, result, error FROM activations "
                "WHERE id = ?",
                (activation,),
            )
            row = cursor.fetchone()
            return None if row is None else dict(zip([each[0] for each in cursor.description], row, strict=True))

        found: dict[str, Any] | None = await self._do(work)
        return found

    async def unfinished(self) -> list[tuple[str, str]]:
        """Calls that were accepted and have not ended, and their functions, in the order of their acceptance."""
        rows: list[tuple[str, str]] = await self._do(
            lambda connection: connection.execute(
                "SELECT id, function FROM activations WHERE status IN ('queued', 'running') ORDER BY accepted, rowid"
            ).fetchall()
        )
        return rows

    async def counts(self) -> dict[str, int]:
        """How many calls are in which state."""
        rows = await self._do(
            lambda connection: connection.execute("SELECT status, COUNT(*) FROM activations GROUP BY status").fetchall()
        )
        return {"queued": 0, "running": 0, "completed": 0, "failed": 0} | dict(rows)

    async def prune(self) -> None:
        """Forget the oldest results."""
        await self._execute(
            "DELETE FROM activations WHERE status IN ('completed', 'failed') AND id NOT IN "
            "(SELECT id FROM activations WHERE status IN ('completed', 'failed') ORDER BY ended DESC LIMIT ?)",
            KEPT,
        )


def _settle(future: asyncio.Future[Any], value: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)
