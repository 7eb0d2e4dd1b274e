"""Merge sorting (FaaSRank Table II, MS): a merge sort in plain Python, inversions counted on the way.

args: size (20000 numbers), seed (1). The numbers are drawn; the paper reads them from CouchDB.
"""

from __future__ import annotations

import random
from typing import Any


def merge_sort(numbers: list[int]) -> tuple[list[int], int]:
    """The numbers in order, and how many pairs were out of order."""
    if len(numbers) < 2:
        return numbers, 0
    middle = len(numbers) // 2
    left, left_count = merge_sort(numbers[:middle])
    right, right_count = merge_sort(numbers[middle:])
    merged, inversions = [], left_count + right_count
    taken = 0
    for number in right:
        while taken < len(left) and left[taken] <= number:
            merged.append(left[taken])
            taken += 1
        inversions += len(left) - taken
        merged.append(number)
    return merged + left[taken:], inversions


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Sort ``size`` numbers; the smallest, the median, the largest, and the inversions."""
    size, draw = int(args.get("size", 20_000)), random.Random(int(args.get("seed", 1)))
    if size < 1:
        return {"error": f"size = {size}, must be at least 1"}
    ordered, inversions = merge_sort([draw.randrange(1_000_000) for _ in range(size)])
    return {
        "size": size,
        "smallest": ordered[0],
        "median": ordered[size // 2],
        "largest": ordered[-1],
        "inversions": inversions,
    }
