"""A bar on standard error: on a terminal only, gone at the end."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress, ProgressColumn, TextColumn

from trimtab.cli.progress import tell_if_compiling


class Bar:
    """What displays of long work have in common; they move ``_bar`` and say on ``_console`` what else there is."""

    def __init__(self, console: Console | None, *columns: ProgressColumn, total: int | None, done: int = 0) -> None:
        self._console = console or Console(stderr=True)
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._task = self._bar.add_task("", total=total, completed=done)

    def __enter__(self) -> Self:
        tell_if_compiling(self._console)
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._bar.stop()


def described() -> TextColumn:
    """The description of what goes on; names in it may hold brackets."""
    return TextColumn("{task.description}", markup=False)
