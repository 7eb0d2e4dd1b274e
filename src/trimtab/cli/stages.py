"""What a person sees of long work in several parts: the part that goes on, and a bar with the time left."""

from __future__ import annotations

from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn

from trimtab.cli.bar import Bar, described


class Stages(Bar):
    """On standard error. On a terminal a bar that vanishes at the end, elsewhere a line for each part."""

    def __init__(self) -> None:
        super().__init__(
            None, described(), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn(), TimeElapsedColumn(),
            total=None,
        )  # fmt: skip

    def stage(self, name: str, total: int) -> None:
        """A part of the work begins, of ``total`` steps."""
        if self._console.is_terminal:
            self._bar.reset(self._task, description=name, total=total)
        else:
            self._console.print(f"{name}: {total} steps", soft_wrap=True, highlight=False, markup=False)

    def step(self) -> None:
        """One step of it is done."""
        self._bar.advance(self._task)
