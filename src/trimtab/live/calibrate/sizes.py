"""Which sizes to measure: a ladder that climbs quickly and never takes a step of unknown height."""

from __future__ import annotations

import math
from collections.abc import Sequence

_TALLEST = 4.0
"""A step may multiply the time of a call by this, as far as the last two sizes tell."""
MOST_SIZES = 24
"""A call that is no nearer to its longest after so many doublings never will be."""

Pair = tuple[float, float]
"""A size and the core-seconds of a call of it."""


def next_size(measured: Sequence[Pair], longest: float) -> int | None:
    """The size to measure next, or None when calls take ``longest`` core-seconds or sizes are enough.

    Twice the last size; less where time grows so fast (fibonacci's with each step of its argument) that an
    exponential through the last two points would rise by more than ``_TALLEST``. Worked example: 20 took 1 ms and
    22 took 4 ms, so a factor of 4 is two steps more: 24, not 44.
    """
    size, seconds = measured[-1]
    if seconds >= longest or len(measured) >= MOST_SIZES:
        return None
    wanted = 2.0 * size
    if len(measured) > 1:
        before, less = measured[-2]
        if seconds > less > 0.0:
            slope = math.log(seconds / less) / (size - before)
            wanted = min(wanted, size + math.log(_TALLEST) / slope)
    return max(int(wanted), int(size) + 1)


def rising(measured: Sequence[Pair]) -> tuple[Pair, ...]:
    """The curve of a function: sizes whose time is above that of all smaller ones.

    Noise may turn two neighbours round where calls are short; what does not rise cannot be inverted.
    """
    kept: list[Pair] = []
    for size, seconds in sorted(measured):
        if not kept or (size > kept[-1][0] and seconds > kept[-1][1]):
            kept.append((size, seconds))
    return tuple(kept)
