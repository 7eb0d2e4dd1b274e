"""A run as a Chrome trace, to be opened in ui.perfetto.dev or chrome://tracing."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.report.files import write_text
from trimtab.sim.outcome import Outcome

MOST_EVENTS = 200_000
"""Viewers slow down beyond this many; the trace says how much was left out."""

_CLUSTER = 0


def write_trace(path: Path, outcome: Outcome, most_events: int = MOST_EVENTS) -> int:
    """Write the trace of one run; returns how many requests are left out (0 if all fit)."""
    text, left_out = trace(outcome, most_events)
    write_text(path, text)
    return left_out


def trace(outcome: Outcome, most_events: int = MOST_EVENTS) -> tuple[str, int]:
    """The trace of one run as JSON, and how many requests are left out of it.

    A process is a host, its threads are lanes: a request keeps to one lane while it is there, and
    lanes are reused, so that their number is the host's concurrency. A request is a slice
    "waiting" (or "cold start") from arrival to start, then a slice with its function's name.
    """
    placed = np.flatnonzero((outcome.host >= 0) & np.isfinite(outcome.completion))
    most_requests = most_events // 2
    left_out = max(0, len(placed) - most_requests)
    chosen = placed[np.argsort(outcome.arrival[placed], kind="stable")][:most_requests]
    events = [*_names(outcome, chosen), *_requests(outcome, chosen), *_counters(outcome)]
    text = "never placed or answered requests are not shown"
    if left_out:
        text = f"the first {len(chosen)} of {len(placed)} placed requests; {text}"
    about = {"policy": outcome.policy, "seed": outcome.seed, "left_out": left_out, "note": text}
    lines = ",\n".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in events)
    head = json.dumps(about, ensure_ascii=False)
    return f'{{"displayTimeUnit":"ms","otherData":{head},"traceEvents":[\n{lines}\n]}}\n', left_out


def lanes(arrival: npt.NDArray[np.float64], completion: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The lowest free lane for each request, in order of arrival; arrivals must be sorted."""
    result = np.zeros(len(arrival), dtype=np.int64)
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    for index, (begin, end) in enumerate(zip(arrival.tolist(), completion.tolist())):
        while busy and busy[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        result[index] = lane
        heapq.heappush(busy, (end, lane))
    return result


def _names(outcome: Outcome, chosen: npt.NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    yield _meta("process_name", _CLUSTER, f"cluster ({outcome.policy}, seed {outcome.seed})")
    for host in np.unique(outcome.host[chosen]).tolist():
        yield _meta("process_name", host + 1, _host_name(outcome, host))
        yield {"ph": "M", "name": "process_sort_index", "pid": host + 1, "args": {"sort_index": host + 1}}


def _meta(kind: str, process: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "args": {"name": name}}


def _host_name(outcome: Outcome, host: int) -> str:
    return outcome.hosts[host] if host < len(outcome.hosts) else f"host {host}"


def _requests(outcome: Outcome, chosen: npt.NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    for host in np.unique(outcome.host[chosen]).tolist():
        here = chosen[outcome.host[chosen] == host]
        lane_of = lanes(outcome.arrival[here], outcome.completion[here])
        for index, lane in zip(here.tolist(), lane_of.tolist()):
            yield from _slices(outcome, index, host + 1, lane + 1)


def _slices(outcome: Outcome, index: int, process: int, thread: int) -> Iterator[dict[str, Any]]:
    arrival, completion = float(outcome.arrival[index]), float(outcome.completion[index])
    start = float(outcome.start[index])
    cold = bool(outcome.cold[index])
    if not arrival <= start <= completion:
        start = arrival
    where = {"ph": "X", "pid": process, "tid": thread}
    if start > arrival:
        name = "cold start" if cold else "waiting"
        yield {**where, "name": name, "cat": "wait", "ts": _us(arrival), "dur": _us(start - arrival)}
    args = {"cold": cold, "fct_s": round(completion - arrival, 6), "request": index}
    if outcome.late[index]:
        args["late"] = True
    function = outcome.functions[int(outcome.function[index])]
    yield {
        **where,
        "name": function,
        "cat": "run",
        "ts": _us(start),
        "dur": _us(completion - start),
        "args": args,
    }


def _counters(outcome: Outcome) -> Iterator[dict[str, Any]]:
    time = outcome.series.get("time")
    if time is None:
        return
    names = {
        "inflight": "in flight",
        "queued": "queued",
        "busy_cores": "busy cores",
        "instances": "instances",
    }
    step = max(1, len(time) // 5000)
    for key, name in names.items():
        values = outcome.series.get(key)
        if values is None or len(values) != len(time):
            continue
        for moment, value in zip(time[::step].tolist(), values[::step].tolist()):
            if np.isfinite(value):
                count = {"value": round(value, 3)}
                yield {"ph": "C", "name": name, "pid": _CLUSTER, "ts": _us(moment), "args": count}


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 1)
