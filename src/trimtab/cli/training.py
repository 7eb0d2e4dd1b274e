"""What a person sees while a policy is trained, and what Ctrl-C does then."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from trimtab.cli.bar import Bar, described
from trimtab.report.field import number

if TYPE_CHECKING:
    from trimtab.learn.recipe import Progress as Unit

_LINE_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
_STOPPING = b"Stopping after this unit, with a checkpoint; Ctrl-C again leaves at once, with the last one.\n"


class TrainingDisplay(Bar):
    """On standard error: a bar with reward, steps a second and time left; without a terminal, lines now and then.

    ``unit`` is in the plural, such as ``episodes``.
    """

    def __init__(self, unit: str, done: int, budget: int, console: Console | None = None) -> None:
        super().__init__(
            console, TextColumn(unit), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(), described(),
            total=budget, done=done,
        )  # fmt: skip
        self._unit, self._first, self._budget = unit, done, budget
        self._steps, self._began, self._said = 0, time.monotonic(), -math.inf

    def trained(self, done: int, unit: Unit) -> None:
        """One unit is done."""
        self._steps += unit.steps
        now = time.monotonic()
        elapsed = max(now - self._began, 1e-9)
        text = f"reward {number(unit.reward)}, {number(self._steps / elapsed)} steps/s"
        if self._console.is_terminal:
            self._bar.update(self._task, completed=done, description=text)
        elif now - self._said >= _LINE_EVERY or done == self._budget:
            self._said = now
            left = (self._budget - done) * elapsed / (done - self._first)
            ending = f", {duration(left)} left" if done < self._budget else ""
            self._console.print(
                f"{done} of {self._budget} {self._unit}: {text}{ending}", highlight=False, soft_wrap=True
            )


class EvaluationDisplay(Bar):
    """A bar while the trained policy is compared with the rules; on a terminal only."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(
            console, TextColumn("evaluation"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(), described(),
            total=None,
        )  # fmt: skip

    def ran(self, policy: str, runs: int) -> None:
        """One run is done."""
        self._bar.update(self._task, total=runs, advance=1, description=policy)


def duration(seconds: float) -> str:
    """A time for a person: ``45 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def graceful_interrupt() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed once, which lets the unit in hand come to its end; twice leaves at once.

    A request to terminate (a batch system, a container that is stopped) counts like Ctrl-C. A unit that is cut
    short would leave a learner between two states, and there would be nothing to go on from.
    """
    pressed = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        os.write(2, _STOPPING)  # not print: the interrupt may have come in the middle of one

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: pressed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
