"""What a person sees while runs go on: a bar with the time left, and a word when kernels are compiled."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def tell_if_compiling(console: Console) -> None:
    """The first run after an installation or a change compiles the engine: say so."""
    from trimtab.sim.kernel import CACHE_FOLDER

    if not any(CACHE_FOLDER.rglob("engine.advance*.nbi")):
        console.print("Compiling the engine: once, about a minute; later runs start at once.", style="yellow")


@contextmanager
def progress_bar(console: Console, what: str, total: int) -> Iterator[Progress]:
    """A bar on standard error; nothing where that is not a terminal."""
    bar = Progress(
        TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"),
        console=console, transient=True, disable=not sys.stderr.isatty(),
    )  # fmt: skip
    with bar:
        bar.add_task("", total=total)
        yield bar
