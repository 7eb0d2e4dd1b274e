"""A platform of one's own for the length of a test: started as a person starts it, ended with all that it started."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trimtab.errors import TrimtabError
from trimtab.live.client import GatewayClient

_START_LIMIT = 90.0
"""Seconds; the first start on a machine compiles the policies."""
_STOP_LIMIT = 20.0


@dataclass(frozen=True)
class RunningPlatform:
    """A platform in a process of its own."""

    url: str
    process: subprocess.Popen[str]
    state: Path
    token: str | None = None
    clients: list[GatewayClient] = field(default_factory=list)

    @property
    def pid(self) -> int:
        """The process that holds it up."""
        return self.process.pid

    def client(self) -> GatewayClient:
        """A connection to it, closed with it."""
        self.clients.append(GatewayClient(self.url))
        return self.clients[-1]


@contextmanager
def running_platform(
    scenario: str = "live-light",
    policy: str | None = None,
    port: int = 0,
    *,
    host: str = "127.0.0.1",
    state: Path | None = None,
    select_policy: str | None = None,
    overrides: tuple[str, ...] = (),
    log: Path | None = None,
    launcher: tuple[str, ...] = (sys.executable, "-m", "trimtab"),
    environment: dict[str, str] | None = None,
) -> Iterator[RunningPlatform]:
    """Start ``trimtab live``, wait until all its servers are up, and end it with all that it started."""
    with tempfile.TemporaryDirectory(prefix="trimtab-state-") as own:
        folder = state or Path(own)
        folder.mkdir(exist_ok=True)
        command = [
            *launcher, "live", "--scenario", scenario, "--port", str(port), "--host", host,
            "--state", str(folder), "--json",
        ]  # fmt: skip
        command += ["--policy", policy] if policy is not None else []
        command += ["--select", select_policy] if select_policy is not None else []
        command += [part for each in overrides for part in ("--set", each)]
        journal = log or folder / "journal.jsonl"
        with journal.open("ab") as errors:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True,
                env={**os.environ, **(environment or {})},
            )  # fmt: skip
        try:
            url, token = _address(process, journal)
            _wait_until_ready(url.replace("0.0.0.0", "127.0.0.1"), process, journal)
            found = RunningPlatform(url, process, folder, token)
            yield found
            for client in found.clients:
                client.close()
        finally:
            _end(process)


def _address(process: subprocess.Popen[str], journal: Path) -> tuple[str, str | None]:
    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], [], [], _START_LIMIT)
    line = process.stdout.readline() if readable else ""
    if not line:
        raise _failed(process, journal)
    told = json.loads(line)
    return told["url"], told["token"]


def _wait_until_ready(url: str, process: subprocess.Popen[str], journal: Path) -> None:
    client, end = GatewayClient(url, timeout=5.0), time.monotonic() + _START_LIMIT
    while True:
        try:
            client.ask("GET", "/readyz")
        except TrimtabError:
            if process.poll() is not None or time.monotonic() > end:
                raise _failed(process, journal) from None
            time.sleep(0.02)
        else:
            client.close()
            return


def _failed(process: subprocess.Popen[str], journal: Path) -> TrimtabError:
    _end(process)
    last = journal.read_text(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
    return TrimtabError(f"the platform did not start: {last[0].removeprefix('trimtab: error: ')}")


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.kill(process.pid, signal.SIGTERM)
        try:
            process.wait(_STOP_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def children(pid: int) -> list[int]:
    """Processes that a process started."""
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def descendants(pid: int) -> set[int]:
    """Those, and what they started."""
    found: set[int] = set()
    for child in children(pid):
        found |= {child} | descendants(child)
    return found


def within(seconds: float, what: Callable[[], Any]) -> Any:
    """Ask again and again until it is true; fails when it takes too long."""
    end = time.monotonic() + seconds
    while True:
        with suppress(TrimtabError):
            if found := what():
                return found
        assert time.monotonic() < end, "not in time"
        time.sleep(0.02)
