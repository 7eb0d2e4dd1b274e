"""What the ASET paper reports. Its text has no percentages: all claims are in words, its curves are not printed.

Castellano et al.: "Scheduling Inference Workloads in the Computing Continuum with Reinforcement Learning",
ICDCS Workshops 2025.
"""

from __future__ import annotations

TITLE = "ASET: Scheduling Inference Workloads in the Computing Continuum with Reinforcement Learning"
CITATION = "G. Castellano, J.-J. Nieto, A. Angi, F. Álvarez Terribas et al., IEEE ICDCS Workshops 2025"

STATIC = (
    "closest", "load-balancing", "farthest", "cheaper", "random-proportional-latency", "random-proportional-load",
    "least-impedance",
)  # fmt: skip
"""The seven static policies, in the order of Section III-C."""

RATE = 60
"""Clients a minute (λ) of Fig. 6a, c and d, and of the agent's training."""
HIGHEST_RATE = 100
QUERIES_AT_RATE = 1000.0
""""Almost 1000 queries per second on the antenna"; the text does not say at which λ, 60 is the natural reading."""
QUERIES_AT_HIGHEST = 1600.0
""""More than 1600 queries per second" at λ = 100."""
