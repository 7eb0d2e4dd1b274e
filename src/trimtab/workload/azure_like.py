"""Traces like Azure Functions 2019: a few functions make most calls, most run less than once a minute.

Fitted to the published sample of 259 functions over eight hours: median 0.104 calls a minute, four in five
functions below one, a third of all calls by the busiest; mean durations with median 0.62 s and sigma 2.45,
shorter for busier functions, so that 28.5 calls a second keep about 16 cores busy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Function, Scenario
from trimtab.scenario.workload import AzureLikeSpec
from trimtab.workload.assemble import assemble
from trimtab.workload.random_streams import stream
from trimtab.workload.spread import DESCRIPTION, MOST_REQUESTS, spread_counts
from trimtab.workload.table import Floats, Ints, Workload

MINUTE = 60.0
RATE_SCORES = (-6.0, 0.0, 0.915, 1.90, 2.05, 2.89, 6.0)
RATE_LOGS = (-17.1, -2.26, 0.0, 2.72, 4.40, 6.35, 12.6)
"""Log of the calls a minute at a standard-normal score, read off the sample; beyond it, straight on."""
WORK_MEDIAN, WORK_SIGMA, WORK_BY_RATE = 0.62, 2.45, -0.44
"""Correlation of log duration with log rate last."""
MEMORY_MEDIAN, MEMORY_SIGMA, MEMORY_FLOOR = 170 * 2.0**20, 0.67, 128 * 2.0**20
"""Half of the published apps take at most 170 MB, nine in ten at most 400 MB."""

TRIGGERS = ("timer", "http", "queue", "orchestration", "event", "storage")
_ALL = (0.52, 0.28, 0.10, 0.06, 0.02, 0.02)
_BUSY = (0.10, 0.15, 0.55, 0.05, 0.10, 0.05)
"""Triggers of the busiest tenth: queues and events make nine of ten calls."""
_DISPERSION = {"http": 1.3, "queue": 3.5, "orchestration": 1.1, "event": 3.0, "storage": 2.8}
"""Median index of dispersion of calls a minute; timers are periodic."""
_DISPERSION_SIGMA, _DISPERSION_LIMITS = 0.9, (1.05, 70.0)


@dataclass(frozen=True)
class Population:
    """What a seed leaves as it is: rates and burstiness of a set of functions."""

    share: Floats
    """Of all calls."""
    rank: Floats
    """Standard-normal score of the rate: 0 for the median function."""
    trigger: Ints
    """Index into TRIGGERS."""
    dispersion: Floats
    """Variance over mean of the calls an interval, of functions that are no timers."""


def draw_population(count: int, population: int) -> Population:
    """Rates by evenly spaced quantiles of the fitted distribution, dealt out at random."""
    from statistics import NormalDist

    random = stream(population, "rates")
    normal = NormalDist()
    scores = np.array([normal.inv_cdf((index + 0.5) / count) for index in range(count)])
    rank = random.permutation(scores)
    weight = np.exp(np.interp(rank, RATE_SCORES, RATE_LOGS))
    busy = rank >= scores[-max(1, count // 10)]
    uniform = random.random(count)
    trigger = np.where(busy, _pick(uniform, _BUSY), _pick(uniform, _ALL)).astype(np.int32)
    median = np.array([_DISPERSION.get(name, 1.0) for name in TRIGGERS])[trigger]
    dispersion = np.clip(median * np.exp(_DISPERSION_SIGMA * random.standard_normal(count)), *_DISPERSION_LIMITS)
    return Population(weight / weight.sum(), rank, trigger, dispersion)


def draw_functions(count: int, population: int) -> tuple[Function, ...]:
    """Functions with mean work and memory to go with a population; a stated cold-start model."""
    rank = draw_population(count, population).rank
    random = stream(population, "rates", 1)
    score = WORK_BY_RATE * rank + np.sqrt(1 - WORK_BY_RATE**2) * random.standard_normal(count)
    work = np.clip(WORK_MEDIAN * np.exp(WORK_SIGMA * score), 1e-3, 300.0)
    memory = np.maximum(MEMORY_MEDIAN * np.exp(MEMORY_SIGMA * random.standard_normal(count)), MEMORY_FLOOR)
    return tuple(
        Function(
            name=f"azure-{index + 1:0{max(3, len(str(count)))}d}",
            memory=float(np.round(memory[index] / 2**20) * 2**20),
            create=0.5,
            init=0.25,
            work=float(work[index]),
            work_deviation=1.0,
            distribution="lognormal",
        )
        for index in range(count)
    )


def build_azure_like(scenario: Scenario, spec: AzureLikeSpec, seed: int) -> Workload:
    """Counts a minute from the population's rates and burstiness, then spread inside the minute."""
    if spec.rate * spec.duration > MOST_REQUESTS:
        raise TrimtabError(f"workload.rate = {spec.rate:.3g}, makes more than {MOST_REQUESTS:,} requests")
    population = draw_population(len(scenario.functions), spec.population)
    random = stream(seed, "arrivals")
    minutes = int(np.ceil(spec.duration / MINUTE))
    cells = draw_counts(population, population.share * spec.rate * MINUTE, minutes, random)
    arrival, function = spread_counts(*cells, length=MINUTE, how=spec.spread, random=random)
    # the last minute may be a part of one; slices of sorted arrivals are no copies
    inside = int(np.searchsorted(arrival, spec.duration))
    return assemble(
        scenario, arrival[:inside], function[:inside], spec.duration, seed,
        notes=(f"Azure-like: {DESCRIPTION[spec.spread]}",),
        statistics={"trigger": tuple(TRIGGERS[index] for index in population.trigger)},
    )  # fmt: skip


def draw_counts(
    population: Population, per_interval: Floats, intervals: int, random: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Calls of each function in each interval, where there are any: function, interval, count."""
    functions, slots, counts = [], [], []
    timer = population.trigger == TRIGGERS.index("timer")
    phase = random.random(len(per_interval))
    edges = np.arange(intervals + 1)
    for index, mean in enumerate(per_interval):
        if timer[index]:
            # a clock that strikes every 1/mean intervals: variance over mean is 1 - mean below one call
            count = np.diff(np.floor(edges * mean + phase[index])).astype(np.int64)
        else:
            # gamma-mixed Poisson (negative binomial): shape mean/(D-1), scale D-1 gives variance D·mean
            scale = population.dispersion[index] - 1.0
            count = random.poisson(random.gamma(max(mean / scale, 1e-12), scale, intervals))
        used = np.flatnonzero(count)
        slots.append(used)
        counts.append(count[used])
        functions.append(np.full(len(used), index))
    return (
        np.concatenate(functions).astype(np.int32),
        np.concatenate(slots).astype(np.int32),
        np.concatenate(counts).astype(np.int32),
    )


def _pick(uniform: Floats, shares: tuple[float, ...]) -> Ints:
    edges = np.cumsum(shares)[:-1]
    return np.searchsorted(edges, uniform, side="right").astype(np.int32)
