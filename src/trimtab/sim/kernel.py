"""The decorators of every compiled function, so that all are compiled and cached the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from trimtab.sim.cache import activate

_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Without reference counts (``_nrt``): counting them atomically whenever an array is taken out of a bundle
took several times longer than the simulation. The caller keeps all arrays alive, and no kernel allocates."""
_INSIDE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Code to unpack a bundle of record arrays from Python is longer than most kernels: made for entries only."""


def kernel(function: Callable[..., Any]) -> Any:
    """A compiled function that becomes part of its caller; cannot be called from Python."""
    return numba.njit(forceinline=True, **_OPTIONS, **_INSIDE)(function)


def routine(function: Callable[..., Any]) -> Any:
    """One that is called: for what is long and used in many places, so that the whole stays small."""
    return numba.njit(**_OPTIONS, **_INSIDE)(function)


def entry(function: Callable[..., Any]) -> Any:
    """One that Python calls: compiled on first use, kept on disk, releases the interpreter lock."""
    activate(function.__module__)  # Numba looks up the folder when a function is decorated
    return numba.njit(cache=True, **_OPTIONS)(function)


def direct(compiled: Any) -> Any:
    """The machine code behind an entry, once it is compiled: Numba's own dispatch types all arguments at each call.

    That took longer than the events of a control period. All runs pass the same types (the tables are built in
    one place), so the only version there is, is the right one.
    """
    versions = list(compiled.overloads.values())
    return versions[0].entry_point if len(versions) == 1 else compiled
