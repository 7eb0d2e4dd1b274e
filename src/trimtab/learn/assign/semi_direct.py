"""How ``semi-direct`` is learned: a network that predicts what a host costs until drained, and how sure that is."""

from __future__ import annotations

from trimtab.learn.assign.hosts import HostRecipe
from trimtab.policies.assign.surrogate import DEVIATION, HEADS

PAPER = HostRecipe("semi-direct", (*HEADS, DEVIATION), budget=20)
