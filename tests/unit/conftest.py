"""Unit tests do no I/O: sockets, processes, sleeping and writing files fail with the reason.

An audit hook sees such a call however it was imported. Reading files is allowed (presets are files), and so
are the caches that Python, Numba and Hypothesis write behind a test's back.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numba
import pytest

FORBIDDEN = {
    "socket.__new__": "opened a socket",
    "socket.connect": "connected a socket",
    "socket.bind": "bound a socket",
    "subprocess.Popen": "started a process",
    "os.system": "started a process",
    "os.fork": "started a process",
    "os.posix_spawn": "started a process",
}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CACHES = {"__pycache__", ".hypothesis"}
NUMBA_SUFFIXES = (".nbi", ".nbc")

active = False


def refuse(what: str) -> NoReturn:
    """Fail the test; not an Exception, so that no ``except Exception`` on the way hides it."""
    pytest.fail(f"a unit test does no I/O, this one {what}: pass data in, or move it to tests/integration")


def is_cache(name: object) -> bool:
    """Whether a file belongs to a cache or is the null device."""
    if not isinstance(name, str | bytes | os.PathLike):
        return True  # an open file descriptor: not a file that is opened here
    path = Path(os.fsdecode(name))
    folder = numba.config.CACHE_DIR
    return (
        str(path) == os.devnull
        or not CACHES.isdisjoint(path.parts)
        or any(suffix in path.name for suffix in NUMBA_SUFFIXES)
        # kernels of the engine, of policies and of learners are kept in folders side by side
        or bool(folder and path.absolute().is_relative_to(Path(folder).absolute().parent))
    )


def audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Called by the interpreter for every audited operation, of every test; must be quick."""
    if not active:
        return
    if event in FORBIDDEN:
        refuse(FORBIDDEN[event])
    if event == "open" and arguments[2] & WRITING and not is_cache(arguments[0]):
        refuse(f"opened {arguments[0]!r} for writing")


sys.addaudithook(audit)


@pytest.fixture(autouse=True)
def no_io(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forbid I/O while a unit test runs."""
    global active
    monkeypatch.setattr(time, "sleep", lambda seconds: refuse(f"slept for {seconds} s"))
    active = True
    yield
    active = False
