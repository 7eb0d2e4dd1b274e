"""What a person sees while runs go on: rows as policies finish, and a bar with the time left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from trimtab.report.table import Lines


class Display:
    """On standard error. On a terminal, rows and bar vanish at the end: the table takes their place.

    Elsewhere (a file, a pipe) a row is a line as soon as there is one, and there is no bar.
    """

    def __init__(self, decision: str, names: Sequence[str], runs: int, rows: bool = True) -> None:
        self._console = Console(stderr=True)
        self._decision, self._rows = decision, rows
        self._longest = max(map(len, names), default=0)
        self._lines: Lines | None = None
        self._shown: list[Text] = []
        self._bar = Progress(
            TextColumn("runs"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False), console=self._console,
        )  # fmt: skip
        self._bar.add_task("", total=runs)
        self._live = Live(self._screen(), console=self._console, transient=True, refresh_per_second=8)

    def __enter__(self) -> Self:
        tell_if_compiling(self._console)
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def ran(self, policy: str) -> None:
        """One run is done."""
        self._bar.update(self._bar.task_ids[0], advance=1, description=policy)

    def finished(self, policy: str, figures: Mapping[str, Any]) -> None:
        """All runs of a policy are done: show its row."""
        if not self._rows:
            return
        from trimtab.report.table import Lines

        if self._lines is None:
            self._lines = Lines(self._decision, figures, self._console.width, self._longest)
            self._show(Text(self._lines.heading(), style="bold"))
        self._show(Text(self._lines.row(policy, figures)))

    def _show(self, line: Text) -> None:
        if self._console.is_terminal:
            self._shown.append(line)
            self._live.update(self._screen())
        else:
            self._console.print(line, soft_wrap=True)

    def _screen(self) -> Group:
        """The last rows that fit, above the bar: a screen that scrolls cannot be wiped."""
        most = max(self._console.height - 3, 2)
        rows = self._shown if len(self._shown) <= most else [self._shown[0], *self._shown[1 - most :]]
        return Group(*rows, self._bar)


def tell_if_compiling(console: Console) -> None:
    """The first run after an installation or a change compiles the engine: say so."""
    from trimtab.sim.cache import cache_folder

    if not any(cache_folder("trimtab.sim.engine").rglob("engine.advance*.nbi")):
        console.print("Compiling the engine: once, about a minute; later runs start at once.", style="yellow")
