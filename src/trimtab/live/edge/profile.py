"""How long a model takes by batch size and cores, measured in isolation: the profile that scenarios use.

The law of a batch is ``base + each · frames``. On one core it is fitted to the CPU time of a run, which is what the
run takes when nobody else wants the core; on several cores to the fastest runs by the clock on the wall, because
what is slower on a shared machine is other people's work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from trimtab.errors import TrimtabError, unknown
from trimtab.live.edge.detector import MODELS, Detector
from trimtab.live.edge.frames import make_frames
from trimtab.live.edge.graphs import GRAPHS, GraphModel

BATCHES = (1, 2, 4, 8)
_LEAST_RUNS = 5
_FASTEST = 0.1
"""Share of runs by the clock on the wall that nobody else is taken to have slowed down."""


@dataclass(frozen=True)
class Point:
    """One batch size on so many cores, in seconds of a batch."""

    batch: int
    cores: int
    wall: float
    """Median by the clock on the wall."""
    cpu: float
    """Median of the core-seconds."""
    service: float
    """What a run takes on cores of its own."""
    deviation: float
    """Of the CPU time of single runs, as a share of its mean."""
    runs: int


@dataclass(frozen=True)
class Profile:
    """A model on so many cores: its measured points, and the law fitted to them."""

    model: str
    cores: int
    points: tuple[Point, ...]
    base: float
    each: float
    deviation: float

    @property
    def rate(self) -> float:
        """Queries a second of one worker at the largest batch."""
        largest = self.points[-1]
        return largest.batch / largest.service


def model_names() -> tuple[str, ...]:
    """All that can be profiled: real detectors, then graphs with random weights."""
    return (*MODELS, *GRAPHS)


def profile(model: str, batches: Iterable[int] = BATCHES, cores: int = 1, seconds: float = 1.0) -> Profile:
    """Measure a model, about ``seconds`` for each batch size and at least five times."""
    sizes = tuple(sorted(set(batches)))
    if not sizes or sizes[0] < 1:
        raise TrimtabError(f"batches = {list(sizes)}, must be numbers from 1 on")
    if cores < 1:
        raise TrimtabError(f"cores = {cores}, must be at least 1")
    run = _runner(model, cores)
    points = tuple(_point(run, batch, cores, seconds) for batch in sizes)
    base, each = law([point.batch for point in points], [point.service for point in points])
    return Profile(model, cores, points, base, each, float(np.median([point.deviation for point in points])))


def law(batches: list[int], seconds: list[float]) -> tuple[float, float]:
    """Base and each of ``base + each · batch`` by least squares of relative errors; neither below 0.

    Worked example: 3 ms at 1 and 5 ms at 2 are 1 ms and 2 ms a frame.
    """
    count, measured = np.array(batches, float), np.array(seconds, float)
    if len(count) == 1:
        return 0.0, float(measured[0] / count[0])
    relative = np.stack([1.0 / measured, count / measured], axis=1)
    base, each = np.linalg.lstsq(relative, np.ones(len(count)), rcond=None)[0]
    if base < 0.0:
        slope = count / measured
        return 0.0, float(slope.sum() / (slope @ slope))
    return float(base), float(max(each, 0.0))


def _runner(model: str, cores: int) -> Callable[[int], object]:
    """What runs a batch of a model once, decoding of pictures included where they are real."""
    if model in GRAPHS:
        return GraphModel(model, cores).run
    if model not in MODELS:
        raise unknown("model", model, model_names())
    detector, frames = Detector(model, cores), make_frames(20)
    pictures = [frame.picture for frame in frames]

    def run(batch: int) -> None:
        for number in range(batch):
            detector.detect(pictures[number % len(pictures)])

    return run


def _point(run: Callable[[int], object], batch: int, cores: int, seconds: float) -> Point:
    run(batch)  # the first one allocates
    walls: list[float] = []
    used: list[float] = []
    until = time.perf_counter() + seconds
    while len(walls) < _LEAST_RUNS or time.perf_counter() < until:
        cpu, began = time.process_time(), time.perf_counter()
        run(batch)
        walls.append(time.perf_counter() - began)
        used.append(time.process_time() - cpu)
    service = float(np.median(used) if cores == 1 else np.quantile(walls, _FASTEST))
    return Point(
        batch=batch,
        cores=cores,
        wall=float(np.median(walls)),
        cpu=float(np.median(used)),
        service=service,
        deviation=float(np.std(used) / np.mean(used)),
        runs=len(walls),
    )
