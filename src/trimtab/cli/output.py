"""Where results go: checked before anything runs, and left as it was if a command does not get to its end."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trimtab.errors import TrimtabError

HIDDEN = ("--out", "--jobs", "--json", "--token")
"""Options that say where results go and how fast they come, not what they are; and what nobody else may read."""


@contextmanager
def output(out: Path | None, json: str | None, name: str) -> Iterator[Path | None]:
    """The folder to write to; None where ``--json`` alone is given, which writes nothing else.

    Folders that are made for it go again if the block fails and nothing is in them.
    """
    from trimtab.report.files import prepare_file, prepare_folder

    folder = out or Path("runs") / name if out is not None or json is None else None
    file = Path(json) if json is not None and json != "-" else None
    missing = [*_missing(folder), *_missing(file.parent if file is not None else None)]
    try:
        if file is not None:
            prepare_file(file)
        yield None if folder is None else prepare_folder(folder)
    except BaseException:
        for each in missing:
            with suppress(OSError):
                each.rmdir()
        raise


def _missing(folder: Path | None) -> list[Path]:
    """The folders that have to be made, the deepest first."""
    if folder is None:
        return []
    try:
        return [each for each in (folder, *folder.parents) if not each.exists()]
    except OSError as error:  # a name too long, or a folder that may not be looked into
        reason = (error.strerror or str(error)).lower()
        raise TrimtabError(f"out = {str(folder)!r}, must be a folder that can be written: {reason}") from None


@contextmanager
def all_or_nothing(folder: Path) -> Iterator[Path]:
    """A hidden folder inside ``folder``, whose files move up together when the block ends well."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".partial-") as name:
        partial = Path(name)
        yield partial
        for file in sorted(partial.iterdir()):
            file.replace(folder / file.name)


def shown_command() -> str:
    """The command as a report shows it: the same for the same results."""
    kept: list[str] = []
    arguments = iter(sys.argv[1:])
    for argument in arguments:
        if argument in HIDDEN:
            next(arguments, None)
        elif argument.partition("=")[0] not in HIDDEN:
            kept.append(shlex.quote(argument))
    return " ".join(["trimtab", *kept])
