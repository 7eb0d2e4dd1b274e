"""The decorator of the compiled parts of assign policies.

The engine's own decorator is tuned for its event loop; these run once an interval, so they are compiled in
the plain way and kept with the kernels of all policies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from trimtab.sim.cache import activate


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on first use and keep on disk."""
    activate(function.__module__)
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
