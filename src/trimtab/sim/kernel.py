"""The decorator of every compiled function, so that all are compiled and cached the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from trimtab.sim.cache import activate

CACHE_FOLDER = activate()


_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
"""Without reference counts (``_nrt``): counting them atomically whenever an array is taken out of a bundle
took several times longer than the simulation. The caller keeps all arrays alive, and no kernel allocates."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile on first use, keep on disk, release the interpreter lock; becomes part of its caller."""
    return numba.njit(forceinline=True, **_OPTIONS)(function)


def routine(function: Callable[..., Any]) -> Any:
    """The same, but called: for what is long and used in many places, so that the whole stays small."""
    return numba.njit(**_OPTIONS)(function)
