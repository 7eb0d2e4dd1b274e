"""Files that are there whole or not at all, also after a crash, a kill or a full disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SUFFIX = ".part"
"""Of files that are being written; a kill may leave one behind."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under another name, make sure that it is on the disk, and give it its name."""
    write_all_whole(path.parent, {path.name: content})


def write_all_whole(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files of one folder, all of them before the first takes its name, which they do in their order.

    What can fail for want of room has failed by then, and nothing has changed.
    """
    partial: dict[str, Path] = {}
    try:
        for name, content in contents.items():
            partial[name] = _partial(folder, name, content)
        for name, path in partial.items():
            path.replace(folder / name)
        _flush_folder(folder)
    finally:
        for path in partial.values():
            path.unlink(missing_ok=True)


def remove_partial(folder: Path) -> None:
    """Remove what a killed process left half-written in a folder."""
    for path in folder.glob(f".*{SUFFIX}"):
        path.unlink(missing_ok=True)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path``, which takes its place if the block ends well.

    Whatever interrupts the block, Ctrl-C included, leaves neither a partial file nor the temporary one.
    """
    temporary = _begun(path.parent, path.name)
    try:
        yield temporary
        _settle(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _partial(folder: Path, name: str, content: bytes) -> Path:
    path = _begun(folder, name)
    try:
        path.write_bytes(content)
        _settle(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _begun(folder: Path, name: str) -> Path:
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.", suffix=SUFFIX)
    os.close(handle)
    return Path(temporary)


def _settle(path: Path) -> None:
    """On the disk, and with the permissions that other new files get."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
    path.chmod(0o666 & ~_umask())


def _umask() -> int:
    # There is no way to read the mask without setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _flush_folder(folder: Path) -> None:
    """The new names too must survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
