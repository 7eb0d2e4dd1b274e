"""The trace of a run."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
from tests import outcomes

from trimtab.report.perfetto import lanes, trace


def test_lanes_are_reused_lowest_first() -> None:
    # 0-10, 1-3, 2-5 need three lanes; at 3 lane 1 is free again, at 6 lane 2 is too but 1 is lower
    arrival, completion = np.array([0.0, 1, 2, 3, 6]), np.array([10.0, 3, 5, 4, 7])
    assert lanes(arrival, completion).tolist() == [0, 1, 2, 1, 1]


def test_a_cold_request_has_two_slices() -> None:
    run = outcomes.outcome([2.0], start=np.array([0.5]), cold=np.array([True]))
    text, left_out = trace(run)
    slices = [event for event in json.loads(text)["traceEvents"] if event["ph"] == "X"]
    assert left_out == 0
    assert [(event["name"], event["ts"], event["dur"]) for event in slices] == [
        ("cold start", 0.0, 0.5e6),
        ("f", 0.5e6, 1.5e6),
    ]
    assert slices[1]["args"] == {"cold": True, "fct_s": 2.0, "request": 0}


def test_too_many_requests_are_cut_and_said() -> None:
    text, left_out = trace(outcomes.outcome([1.0] * 10 + [math.nan]), most_events=8)
    content = json.loads(text)
    assert left_out == content["otherData"]["left_out"] == 6
    assert content["otherData"]["note"].startswith("the first 4 of 10 placed requests")
    assert sum(event["ph"] == "X" for event in content["traceEvents"]) == 4


def test_hosts_are_processes_and_counters_are_there() -> None:
    events = json.loads(trace(outcomes.place())[0])["traceEvents"]
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert "invoker-3" in names
    assert {event["name"] for event in events if event["ph"] == "C"} == {"in flight", "busy cores"}
    runs = sorted((e["pid"], e["tid"], e["ts"], e["dur"]) for e in events if e["ph"] == "X")
    for (process, thread, begin, length), (process2, thread2, begin2, _) in itertools.pairwise(runs):
        if (process, thread) == (process2, thread2):
            assert begin + length <= begin2 + 0.2, "slices of a lane must not overlap"
