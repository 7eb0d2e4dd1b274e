"""Fewer points for a chart: what a screen can show, and no more."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MOST_POINTS = 300


def thin(
    time: Floats, values: Floats, most: int = MOST_POINTS, keep: Literal["mean", "last"] = "mean"
) -> tuple[Floats, Floats]:
    """At most ``most`` points of a series: the mean, or the last value, of equal runs of samples."""
    count = len(time)
    if count <= most:
        return time, values
    edges = np.linspace(0, count, most + 1).astype(np.int64)
    last = edges[1:] - 1
    if keep == "last":
        return time[last], values[last]
    sums = np.add.reduceat(values, edges[:-1])
    middle = (time[edges[:-1]] + time[last]) / 2
    return middle, sums / np.diff(edges)


def windows(moments: Floats, most: int = 60) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Cut a span of time into equal windows: their middles, and the window of every moment."""
    low, high = float(moments.min()), float(moments.max())
    width = max(high - low, 1e-9) / most
    index: npt.NDArray[np.int64] = np.minimum(((moments - low) / width).astype(np.int64), most - 1)
    middles: Floats = low + (np.arange(most, dtype=np.float64) + 0.5) * width
    return middles, index


def quantile_by_window(
    values: Floats, window: npt.NDArray[np.int64], count: int, quantile: float, fewest: int = 5
) -> Floats:
    """A quantile in each window; NaN in those with fewer values than say anything."""
    result = np.full(count, np.nan)
    order = np.argsort(window, kind="stable")
    edges = np.searchsorted(window[order], np.arange(count + 1))
    for index in range(count):
        inside = values[order[edges[index] : edges[index + 1]]]
        if len(inside) >= fewest:
            result[index] = np.quantile(inside, quantile)
    return result


def coarse(matrix: npt.NDArray[np.float32], most: int) -> npt.NDArray[np.float32]:
    """At most ``most`` columns, each the mean of equal runs of columns."""
    columns = matrix.shape[1]
    if columns <= most:
        return matrix
    edges = np.linspace(0, columns, most + 1).astype(np.int64)
    return (np.add.reduceat(matrix, edges[:-1], axis=1) / np.diff(edges)).astype(np.float32)
