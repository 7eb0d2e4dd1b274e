"""What a scale policy sees of a real platform, from a state and a log made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trimtab.live.load.log import Log
from trimtab.live.load.plan import Plan
from trimtab.live.observe import Observer, overlap
from trimtab.scenario.model import Function
from trimtab.workload.table import Workload

FUNCTION = Function(name="f", memory=2.0**27, cpu=0.5, deadline=1.0, create=0.2, init=0.1)


def instance(number: int, cpu: float, state: str = "idle", function: str = "f") -> dict[str, Any]:
    return {"id": number, "function": function, "state": state, "cpu_seconds": cpu, "memory_bytes": 1000}


def state(*instances: dict[str, Any], queued: int = 0) -> dict[str, Any]:
    return {"servers": [{"instances": list(instances)}], "functions": [{"name": "f", "queued": queued}]}


def log() -> Log:
    """Six calls of f at 0, 1 … 5 s and one of g; four of f have ended, after 0.5, 2, 0.5 and 0.5 s, one as an error."""
    arrival = np.array([0.0, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0])
    function = np.array([0, 0, 0, 1, 0, 0, 0], np.int32)
    made = Log(Plan(Workload(("f", "g"), arrival, function, np.full(7, 0.1), 10.0), (b"{}",) * 7))
    made.ended[[0, 1, 2, 4]] = [0.5, 3.0, 2.5, 3.5]
    made.status[[0, 1, 2, 4]] = [200, 200, 200, 500]
    made.run[[0, 1, 2]] = [0.1, 0.3, 0.2]
    return made


def test_overlap() -> None:
    assert overlap(np.array([1.0, 2.0]), np.array([3.0, np.inf]), 0.0, 4.0) == 4.0


def test_the_first_window() -> None:
    seen = Observer(FUNCTION, 0).look(state(instance(1, 0.4), instance(2, 0.2, "starting"), queued=3), log(), 2.25)
    assert (seen.window, seen.arrivals, seen.completions, seen.violations) == (2.25, 2, 1, 0)
    # by 2.25 s: the first call for 0.5, the second for 1.25, the third for 0.25
    assert seen.inflight == pytest.approx(2.0 / 2.25)
    assert (seen.inflight_now, seen.queued, seen.ready, seen.starting) == (2, 3, 1, 1)
    assert seen.cpu_cores == pytest.approx(0.6 / 2.25)
    assert (seen.latency_p50, seen.latency_p99) == (0.5, 0.5)
    assert (seen.cpu_limit, seen.slo, seen.start_up) == (0.5, 1.0, pytest.approx(0.3))
    assert seen.service_mean == pytest.approx(0.1)


def test_the_next_window_counts_what_is_new() -> None:
    observer = Observer(FUNCTION, 0)
    observer.look(state(instance(1, 0.4)), log(), 2.25)
    observer.resized(0.75)
    seen = observer.look(state(instance(1, 0.9), instance(3, 0.1)), log(), 4.25)
    # answered in (2.25, 4.25]: the second after 2 s, which is late, the third after 0.5 s; the fourth failed
    assert (seen.arrivals, seen.completions, seen.violations) == (2, 2, 2)
    assert seen.cpu_cores == pytest.approx((0.5 + 0.1) / 2.0)
    assert seen.latency_p50 == pytest.approx(1.25)
    assert seen.cpu_limit == 0.75
    # one instance for 2.25 s, then two for 2 s
    assert observer.instance_seconds == pytest.approx(2.25 + 4.0)
    assert observer.core_seconds == pytest.approx(2.25 * 0.5 + 4.0 * 0.75)


def test_no_answer_is_no_latency() -> None:
    observer = Observer(FUNCTION, 0)
    observer.look(state(), log(), 4.0)
    seen = observer.look(state(), log(), 4.5)
    assert (seen.latency_p50, seen.latency_p95, seen.completions) == (None, None, 0)
    assert seen.service_mean == pytest.approx(0.2), "what was seen so far"
