"""One training at a time in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trimtab.errors import TrimtabError


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder against another training; the system lets go of it when a process dies, however it does."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TrimtabError(f"out = {str(folder)!r} is in use by another training, must be another folder") from None
        yield
    finally:
        os.close(handle)
