"""What a person sees of long work in several parts: the part that goes on, and a bar with the time left."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from trimtab.cli.progress import tell_if_compiling


class Stages:
    """On standard error. On a terminal a bar that vanishes at the end, elsewhere a line for each part."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn(),
            TimeElapsedColumn(), console=self._console, transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=None)

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

    def stage(self, name: str, total: int) -> None:
        """A part of the work begins, of ``total`` steps."""
        if self._console.is_terminal:
            self._bar.reset(self._task, description=name, total=total)
        else:
            self._console.print(f"{name}: {total} steps", soft_wrap=True, highlight=False)

    def step(self) -> None:
        """One step of it is done."""
        self._bar.advance(self._task)
