"""Hosts that are equally good: the first of them is taken, whatever the last bits of their values say.

A product of matrices rounds its rows differently from one machine or library to another, so that equal hosts get values
that differ in the last bits. Without this a plan would depend on where it was made.
"""

from __future__ import annotations

import numpy as np

from trimtab.policies.assign.contract import Floats, Ints

SAME = 1e-9
"""USD: far above errors of rounding, far below what any choice is worth."""


def first_best(values: Floats) -> int:
    """Place of the first value that is as good as the largest."""
    return int(np.argmax(values >= values.max() - SAME))


def first_best_of_rows(values: Floats) -> Ints:
    """The same for each row."""
    found: Ints = np.argmax(values >= values.max(axis=1)[:, None] - SAME, axis=1).astype(np.int32)
    return found


def falling(values: Floats) -> Ints:
    """Places from the largest to the smallest value, equally good ones in their order."""
    return np.argsort(-np.round(values / SAME), kind="stable").astype(np.int32)
