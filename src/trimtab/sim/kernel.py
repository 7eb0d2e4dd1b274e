"""The decorator of every compiled function, so that all are compiled and cached the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from trimtab.sim.cache import activate

CACHE_FOLDER = activate()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first use, keep on disk, release the interpreter lock while running."""
    return numba.njit(cache=True, nogil=True)(function)


def inline_kernel(function: Callable[..., Any]) -> Any:
    """The same for a function of a few lines on the hottest path."""
    return numba.njit(cache=True, nogil=True, inline="always")(function)
