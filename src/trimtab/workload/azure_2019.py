"""Azure Functions 2019 as published: calls a minute, percentiles of durations, memory of apps.

A folder with the three files of a day, or one invocations file whose companions lie beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Function, Scenario
from trimtab.scenario.workload import Azure2019Spec
from trimtab.workload.assemble import assemble
from trimtab.workload.azure_2019_files import Invocations, read_durations, read_invocations, read_memory
from trimtab.workload.quantiles import Quantiles
from trimtab.workload.random_streams import stream
from trimtab.workload.spread import DESCRIPTION, spread_counts
from trimtab.workload.table import Floats, Ints, Workload
from trimtab.workload.trace_file import find_trace
from trimtab.workload.trace_functions import function_of_trace

MINUTE = 60.0
MOST_SAMPLED = 5_000_000
"""Requests of a sample; a published day has hundreds of millions."""
LARGEST_SHARE = 0.35
"""Of a sample that one function may make: the busiest of the published sample makes a third."""


@dataclass(frozen=True)
class Day:
    """One day (or the part that a scenario asks for), sparse: only minutes with calls."""

    names: tuple[str, ...]
    trigger: tuple[str, ...]
    function: Ints
    minute: Ints
    """From the first minute of the part."""
    count: Ints
    minutes: int
    work: Quantiles
    """Durations in seconds."""
    memory: Floats
    """Bytes."""
    notes: tuple[str, ...]


def read_day(spec: Azure2019Spec) -> Day:
    """Read the files once for all seeds of a process."""
    path = find_trace(spec.path)
    stamp = tuple(sorted((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in _files(path)))
    return _read(path, stamp, spec.first_minute, spec.last_minute, spec.whole)


def functions_of(scenario: Scenario, spec: Azure2019Spec) -> tuple[Function, ...]:
    """A function of the scenario for each one of the trace."""
    day = read_day(spec)
    deviation = day.work.deviation()
    late = day.work.at(0.99)
    return tuple(
        function_of_trace(
            scenario, name, float(day.work.mean[index]), float(deviation[index]),
            late=float(late[index]), memory=float(day.memory[index]),
        )
        for index, name in enumerate(day.names)
    )  # fmt: skip


def build_azure_2019(scenario: Scenario, spec: Azure2019Spec, seed: int) -> Workload:
    """Calls of each minute spread inside it; durations drawn from the published percentiles."""
    day = read_day(spec)
    arrival, function = spread_counts(
        day.function, day.minute, day.count,
        length=MINUTE, how=spec.spread, random=stream(seed, "arrivals"),
    )  # fmt: skip
    return assemble(
        scenario, arrival, function, day.minutes * MINUTE, seed,
        work=day.work.draw(function, stream(seed, "work")),
        notes=(*day.notes, f"Azure 2019 gives calls a minute: {DESCRIPTION[spec.spread]}"),
        statistics={"trigger": day.trigger},
    )  # fmt: skip


def draw_shapes(path: str, count: int, seconds: int, draw: int) -> Floats:
    """For FaaSRank: minutes of ``count`` traces chosen at random, read as seconds, each with mean 1."""
    day = read_day(Azure2019Spec(source="azure-2019", path=path, whole=True))
    if day.minutes < seconds:
        raise TrimtabError(f"{path}: has {day.minutes} minutes, must have at least {seconds}")
    random = stream(draw, "rates", 3)
    begin = int(random.integers(0, day.minutes - seconds + 1))
    inside = (day.minute >= begin) & (day.minute < begin + seconds)
    counts = np.zeros((len(day.names), seconds))
    counts[day.function[inside], day.minute[inside] - begin] = day.count[inside]
    # a trace with next to no calls in the window has no shape to map a function to
    usable = np.flatnonzero(counts.sum(axis=1) >= seconds / 10)
    if len(usable) < count:
        raise TrimtabError(f"{path}: {len(usable)} functions are called often enough, must be {count} or more")
    chosen = counts[random.choice(usable, count, replace=False)]
    return np.asarray(chosen / chosen.mean(axis=1, keepdims=True))


def _files(path: Path) -> list[Path]:
    return [file for file in (path.iterdir() if path.is_dir() else path.parent.iterdir()) if file.is_file()]


@lru_cache(maxsize=2)
def _read(path: Path, stamp: tuple[tuple[str, int, int], ...], first: int | None, last: int | None, whole: bool) -> Day:
    """``stamp`` makes the cache forget files that have changed."""
    invocations = read_invocations(path, first, last)
    notes = list(invocations.notes)
    kept = _active(invocations)
    total = int(invocations.count.sum(dtype=np.int64))
    if not whole and total > MOST_SAMPLED:
        kept = _sample(invocations, kept)
        notes.append(f"{len(kept):,} of {len(invocations.keys):,} functions drawn at random, {total:,} calls in all")
    renumber = np.full(len(invocations.keys), -1, np.int32)
    renumber[kept] = np.arange(len(kept), dtype=np.int32)
    cells = renumber[invocations.function] >= 0
    keys = invocations.keys[kept]
    work, without_work = read_durations(invocations.durations, keys)
    memory, without_memory = read_memory(invocations.memory, keys)
    notes += [note for note in (without_work, without_memory) if note]
    return Day(
        names=tuple(_names(keys)),
        trigger=tuple(invocations.trigger[kept]),
        function=renumber[invocations.function[cells]],
        minute=invocations.minute[cells],
        count=invocations.count[cells],
        minutes=invocations.minutes,
        work=work,
        memory=memory,
        notes=tuple(notes),
    )


def _active(invocations: Invocations) -> Ints:
    calls = np.bincount(invocations.function, minlength=len(invocations.keys))
    active = np.flatnonzero(calls).astype(np.int32)
    if not len(active):
        raise TrimtabError("the trace has no calls in these minutes")
    return active


def _sample(invocations: Invocations, active: Ints) -> Ints:
    """Functions in random order while their calls fit; whole functions, so that each keeps its pattern."""
    calls = np.bincount(invocations.function, weights=invocations.count, minlength=len(invocations.keys))
    order = stream(0, "rates", 4).permutation(active)
    order = order[calls[order] <= LARGEST_SHARE * MOST_SAMPLED]
    fits = np.cumsum(calls[order]) <= MOST_SAMPLED
    if not fits.any():
        raise TrimtabError(f"no function has at most {MOST_SAMPLED:,} calls, choose fewer minutes or 'whole'")
    return np.sort(order[fits]).astype(np.int32)


def _names(keys: np.ndarray) -> list[str]:
    """The shortest beginnings of the hashes that are unique."""
    functions = [key[2] for key in keys]
    for length in (8, 16):
        short = [name[:length] for name in functions]
        if len(set(short)) == len(short):
            return short
    return [f"{key[1][:12]}/{key[2][:12]}/{index}" for index, key in enumerate(keys)]
