"""ASET's clients: each brings a stream of queries with requirements of its own."""

from __future__ import annotations

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Function, Scenario
from trimtab.scenario.workload import StreamsSpec
from trimtab.workload.random_streams import stream
from trimtab.workload.spread import MOST_REQUESTS
from trimtab.workload.steps import stepped_arrivals
from trimtab.workload.table import Floats, Ints, Streams, Workload
from trimtab.workload.work import draw_work


def build_streams(scenario: Scenario, spec: StreamsSpec, seed: int) -> Workload:
    """Streams by a Poisson process at each source; queries of a stream are 1 / rate apart."""
    if not scenario.applications:
        raise TrimtabError("applications = [], must have at least one for a workload of streams")
    tasks = tuple(dict.fromkeys(application.task for application in scenario.applications))
    random = stream(seed, "arrivals")
    streams = _streams(scenario, spec, tasks, random, stream(seed, "network"))
    arrival, of_stream = _queries(streams, spec.duration, random)
    return Workload(
        functions=tuple(application.name for application in scenario.applications),
        arrival=arrival,
        function=streams.application[of_stream],
        work=_factors(scenario.functions, len(arrival), stream(seed, "work")),
        duration=spec.duration,
        warm_up=spec.warm_up,
        stream=of_stream,
        streams=streams,
        tasks=tasks,
        noise=stream(seed, "network", 1).standard_normal(3 * len(arrival)),
    )


def _streams(
    scenario: Scenario,
    spec: StreamsSpec,
    tasks: tuple[str, ...],
    random: np.random.Generator,
    network: np.random.Generator,
) -> Streams:
    arrival, source = _arrivals(spec, random)
    count, applications = len(arrival), scenario.applications
    shares = np.array([application.share for application in applications])
    chosen = random.choice(len(applications), count, p=shares / shares.sum()).astype(np.int32)

    def between(field: str) -> Floats:
        limits = np.array([getattr(application, field) for application in applications], float)
        low, high = limits[chosen, 0], limits[chosen, 1]
        return np.asarray(low + (high - low) * random.random(count))

    access = network.normal(scenario.network.access, scenario.network.access_deviation, count)
    return Streams(
        arrival=arrival,
        duration=np.minimum(between("duration"), spec.longest),
        application=chosen,
        source=source,
        rate=between("rate"),
        deadline=between("deadline"),
        accuracy=np.array([application.accuracy for application in applications])[chosen],
        size=between("size"),
        bandwidth=np.full(count, scenario.network.access_bandwidth),
        access=np.maximum(access, 0.0),
        task=np.array([tasks.index(application.task) for application in applications], np.int32)[chosen],
    )


def _arrivals(spec: StreamsSpec, random: np.random.Generator) -> tuple[Floats, Ints]:
    """Arrivals of streams at all sources together, and the source of each."""
    each = [stepped_arrivals(spec.rate, spec.steps, 60.0, spec.duration, random) for _ in spec.sources]
    arrival = np.concatenate(each)
    source = np.repeat(np.arange(len(each), dtype=np.int32), [len(one) for one in each])
    order = np.argsort(arrival, kind="stable")
    return arrival[order], source[order]


def _queries(streams: Streams, duration: float, random: np.random.Generator) -> tuple[Floats, Ints]:
    """Times of all queries, sorted, and their streams; a stream ends with the run."""
    lasts = np.minimum(streams.duration, duration - streams.arrival)
    phase = random.random(len(lasts))
    # queries at (phase + k) / rate for k = 0, 1 … while that is less than the length of the stream
    counts = np.maximum(np.ceil(lasts * streams.rate - phase), 0).astype(np.int64)
    total = int(counts.sum())
    if total > MOST_REQUESTS:
        raise TrimtabError(f"queries = {total:,}, must be at most {MOST_REQUESTS:,} in one run")
    index = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    arrival = np.repeat(streams.arrival + phase / streams.rate, counts) + index / np.repeat(streams.rate, counts)
    order = np.argsort(arrival, kind="stable")
    of_stream = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return arrival[order], of_stream[order]


def _factors(functions: tuple[Function, ...], count: int, random: np.random.Generator) -> Floats:
    """Work of each query over the mean of the function that will answer; constant for batched variants."""
    if not functions:
        return np.ones(count)
    unit = functions[0].model_copy(update={"work": 1.0})
    return draw_work([unit], np.zeros(count, np.int32), random)
