"""Random numbers of a run, a stream for each purpose, so that one never shifts another."""

from __future__ import annotations

from typing import Literal

import numpy as np

Purpose = Literal["arrivals", "work", "network", "faults", "policy", "rates"]

_KEYS: dict[Purpose, int] = {"arrivals": 0, "work": 1, "network": 2, "faults": 3, "policy": 4, "rates": 5}


def stream(seed: int, purpose: Purpose, *more: int) -> np.random.Generator:
    """The generator for one purpose of a seed; ``more`` splits it further.

    ``rates`` is for what a seed must not change: call it with a draw or population number instead.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(_KEYS[purpose], *more))
    return np.random.Generator(np.random.PCG64(sequence))
