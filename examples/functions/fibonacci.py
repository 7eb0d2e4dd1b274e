"""Fibonacci by plain recursion: work that grows by the golden ratio with every step of ``size``.

args: size (25). The function that the DQN autoscaler's slides scale.
"""

from __future__ import annotations

from typing import Any

LARGEST = 35


def fibonacci(number: int) -> int:
    """F(n) with F(0) = 0 and F(1) = 1, one call for every node of the tree on purpose."""
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)


def main(args: dict[str, Any]) -> dict[str, Any]:
    """F(size)."""
    size = int(args.get("size", 25))
    if not 0 <= size <= LARGEST:
        return {"error": f"size = {size}, must be 0 to {LARGEST}"}
    return {"size": size, "value": fibonacci(size)}
