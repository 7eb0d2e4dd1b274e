"""Seeded random numbers inside kernels: splitmix64, one 64-bit word of state, the same everywhere."""

from __future__ import annotations

import math

import numpy as np

from trimtab.sim.kernel import kernel

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@kernel
def mix(word):
    """The output function of splitmix64: a good hash of a 64-bit word."""
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return word ^ (word >> _31)


@kernel
def uniform(random):
    """The next number in [0, 1) of the stream whose state is ``random[0]``."""
    random[0] = random[0] + _INCREMENT
    return float(mix(random[0]) >> _11) * (1.0 / 9007199254740992.0)


@kernel
def below(random, limit):
    """The next integer in 0 … limit − 1."""
    return int(uniform(random) * limit)


@kernel
def hashed_uniform(seed, first, second):
    """A number in (0, 1) that depends on its arguments alone: the same for every policy."""
    word = mix(np.uint64(seed) * _INCREMENT + mix(np.uint64(first) * _INCREMENT + np.uint64(second + 1)))
    return (float(word >> _11) + 0.5) * (1.0 / 9007199254740992.0)


@kernel
def hashed_normal(seed, first, second):
    """A standard-normal number that depends on its arguments alone (Box-Muller)."""
    radius = math.sqrt(-2.0 * math.log(hashed_uniform(seed, first, 2 * second)))
    return radius * math.cos(2.0 * math.pi * hashed_uniform(seed, first, 2 * second + 1))
