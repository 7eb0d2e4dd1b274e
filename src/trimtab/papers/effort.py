"""How much is run: enough for the paper's claims, or enough for a look."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """Seeds, and what is left out to be quick."""

    seeds: tuple[int, ...]
    train: bool
    """Whether the learned policies are trained afresh; else those that come with Trimtab are used."""
    wide: bool
    """Whether sweeps are complete and sensitivities are run."""
    overrides: tuple[str, ...] = ()
    """Settings that shorten every scenario, for a test."""
    budget: int | None = None
    """Units of training; None is the recipe's own."""


def first_seeds(count: int) -> tuple[int, ...]:
    """Seeds 1 to ``count``, as ``trimtab compare`` counts them; training uses none of them."""
    return tuple(range(1, count + 1))
