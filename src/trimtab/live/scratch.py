"""A folder for as long as a process lives: what a killed one left behind is removed by the next.

A file in the folder is locked by whoever made it, and the kernel opens the lock when that process ends, however it
ends. A process number in the name would not do: another container may share the folder, but not the numbers.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from trimtab.live.processes import send

PREFIX = "trimtab-run-"
_LOCK = "alive"


class Scratch:
    """One folder, removed with all in it by ``remove``, or at the end of a ``with``."""

    def __init__(self) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if (self.path / _LOCK).exists():  # else somebody swept it away before it was locked
                return
            os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove it with all in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            os.close(self._lock)


def sweep() -> None:
    """Remove folders of processes that are gone, and end what lives in them: ours only, where the lock says so."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                send(signal.SIGKILL, _users_of(folder))
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _users_of(folder: Path) -> Iterator[int]:
    """Processes whose home is in there: functions' own, where no namespace has ended them with their instance."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"\0TMPDIR={folder}/" in "\0" + (process / "environ").read_text(errors="replace"):
                yield int(process.name)
