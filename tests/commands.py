"""Commands as a person runs them, but in this process: kernels are loaded once for all tests."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from trimtab.cli import main

PREFIX = "trimtab: error: "


@dataclass(frozen=True)
class Result:
    """What a command left on the terminal."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, read as JSON."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The one line of a mistake, without its prefix."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert self.out == ""
        # the word that kernels are being compiled comes with the first run after a change, whatever the command
        lines = [line for line in self.err.splitlines() if not line.startswith("Compiling the engine")]
        assert len(lines) == 1, self.err
        assert lines[0].startswith(PREFIX)
        return lines[0].removeprefix(PREFIX)


def trimtab(*arguments: str, folder: Path) -> Result:
    """Run one command in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["trimtab", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
    return Result(code, out.getvalue(), err.getvalue())


def files(folder: Path) -> list[str]:
    """Everything below a folder, hidden files included."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
