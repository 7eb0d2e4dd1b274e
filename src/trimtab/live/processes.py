"""Processes as /proc shows them: who started whom, what they use, and how to stop and end whole families.

For what control groups and process namespaces do better, on machines that do not allow them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from trimtab.live.cgroup import Usage

_AFTER_NAME = 2
"""Columns of /proc/PID/stat before its state: the name may hold blanks and brackets, so counting starts after it."""
_CPU_COLUMNS = (13, 14, 15, 16)
"""In ticks: user and kernel time, and those of children that were waited for."""
_PAGES = 23
_PROC = Path("/proc")


def children(pid: int) -> set[int]:
    """Processes whose parent it is."""
    found: set[int] = set()
    with suppress(OSError):
        for thread in (_PROC / str(pid) / "task").iterdir():
            with suppress(OSError):
                found |= {int(each) for each in (thread / "children").read_text().split()}
    return found


def descendants(pid: int) -> set[int]:
    """Those, and what they started in turn."""
    found: set[int] = set()
    beyond = children(pid)
    while beyond:
        found |= beyond
        beyond = {each for parent in beyond for each in children(parent)} - found
    return found


def usage_of(pids: Iterable[int]) -> Usage:
    """What processes have used so far, and hold now; shared memory counts for each."""
    user = kernel = 0.0
    memory = 0
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for pid in pids:
        row = _stat(pid)
        if row:
            own_user, own_kernel, waited_user, waited_kernel = (int(row[each - _AFTER_NAME]) for each in _CPU_COLUMNS)
            user += (own_user + waited_user) / tick
            kernel += (own_kernel + waited_kernel) / tick
            memory += int(row[_PAGES - _AFTER_NAME]) * page
    return Usage(user, kernel, user + kernel, memory, 0)


def _stat(pid: int) -> list[str]:
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def send(number: int, pids: Iterable[int]) -> None:
    """A signal to each that is still there."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_all(find: Callable[[], set[int]], within: float) -> bool:
    """Kill what ``find`` finds, again and again, until it finds nothing: one that forks may slip through once.

    Those that have become children of ours are reaped; whether all have gone in time.
    """
    end = time.monotonic() + within
    while found := find():
        send(signal.SIGKILL, found)
        for pid in found:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True
