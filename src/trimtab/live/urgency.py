"""Gateway and sender before all else: on a busy machine a measurement must not measure who else waits for a core.

Where real-time scheduling is not allowed, nothing happens. Functions with a limit never get it: limits hold for
ordinary processes only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FIRST = os.sched_param(1)


def hurry_children(process: int) -> None:
    """The children of a process go first from now on; what they start does not."""
    with suppress(OSError):
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            os.sched_setscheduler(int(child), os.SCHED_RR | os.SCHED_RESET_ON_FORK, _FIRST)


@contextmanager
def urgent() -> Iterator[None]:
    """This thread, and threads and processes that it starts, go first while the block runs."""
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, _FIRST)
        yield
    finally:
        with suppress(OSError):
            os.sched_setscheduler(0, policy, parameters)
