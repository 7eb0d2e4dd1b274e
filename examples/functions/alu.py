"""Arithmetic logic unit (FaaSRank Table II, ALU): a loop over the four operations in plain Python.

args: size (300000 turns). Nothing is stored.
"""

from __future__ import annotations

from typing import Any

PRIME = 1_000_003


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Sum, difference, product modulo a prime and sum of quotients of 1 to ``size``, and all bits folded."""
    size = int(args.get("size", 300_000))
    total, difference, product, quotient, folded = 0, 0, 1, 0.0, 0
    for number in range(1, size + 1):
        total += number
        difference -= number
        product = product * number % PRIME
        quotient += 1 / number
        folded ^= number
    return {"sum": total, "difference": difference, "product": product, "quotient": quotient, "folded": folded}
