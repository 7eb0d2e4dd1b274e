"""Random streams of queries over two sites, with cuts, crashes and dead hosts: the books are kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property import audit
from tests.worlds import MIB, scenario, simulation, step, workload

from trimtab.policies import registry
from trimtab.scenario.model import Scenario
from trimtab.sim import records
from trimtab.sim.simulation import Simulation
from trimtab.workload.table import Streams, Workload

ROUTE = registry.names("route")
SITES = ("near", "far")


@st.composite
def stream_faults(draw: st.DrawFn) -> list[dict[str, object]]:
    """Up to three faults."""
    rows: list[dict[str, object]] = []
    for kind in draw(st.lists(st.sampled_from(["site-cut", "instance-crash", "host-down"]), max_size=3)):
        row: dict[str, object] = {"kind": kind, "at": draw(st.sampled_from([0.0, 0.5, 1.5, 2.0])), "lasts": 1.0}
        if kind == "site-cut":
            row["site"] = draw(st.sampled_from(SITES))
        rows.append(row)
    return rows


@st.composite
def edges(draw: st.DrawFn) -> Scenario:
    """Workers with devices of their own, or functions on shared cores, at two sites."""
    common = {
        "hosts": [{"site": site, "cores": 2.0} for site in SITES],
        "platform": {
            "dispatch": "cluster",
            "instances": "controlled",
            "queue_limit": draw(st.sampled_from([None, 0, 3])),
        },
        "applications": [{"name": "app", "deadline": [1, 1], "rate": [1, 1], "duration": [9, 9], "accuracy": 10}],
        "network": {
            "links": [
                {"source": "antenna", "site": "near", "delay": 0.005, "deviation": 0.01},
                {"source": "antenna", "site": "far", "delay": 0.03, "deviation": 0.004},
            ]
        },
        "faults": draw(stream_faults()),
        "workload": {"source": "streams", "duration": 10},
    }
    if draw(st.booleans()):
        row = {"task": "detection", "accuracy": 40, "memory": 256 * MIB, "work": 0.05, "concurrency": 2}
        rows = [row | {"site": site, "instances": draw(st.integers(0, 3))} for site in SITES]
        return scenario(rows, **common)  # type: ignore[arg-type]
    batch = {"size": draw(st.integers(1, 4)), "base": 0.02, "each": 0.05, "deviation": 0.3}
    variant = {"name": "v", "accuracy": 40, "batch": batch}
    workers = [{"site": site, "variant": "v", "count": draw(st.integers(1, 2))} for site in SITES]
    return scenario([], variants=[variant], workers=workers, **common)  # type: ignore[arg-type]


@st.composite
def queries(draw: st.DrawFn) -> Workload:
    """A handful of streams; every query belongs to one that has begun."""
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    count = draw(st.integers(1, 8))
    begin = np.sort(random.integers(0, 9, count) * 0.25)
    rate = random.choice([1.0, 5.0, 20.0], count)
    zeros = np.zeros(count, np.int32)
    streams = Streams(
        arrival=begin, duration=np.full(count, 1.5), application=zeros, source=zeros, rate=rate,
        deadline=random.choice([0.05, 0.2, 1.0], count), accuracy=random.choice([10.0, 40.0, 99.0], count),
        size=np.full(count, 2e4), bandwidth=np.full(count, 1e7), access=np.full(count, 0.002), task=zeros,
    )  # fmt: skip
    owner = random.integers(0, count, 60)
    arrival = begin[owner] + random.uniform(0.0, 1.5, 60)
    order = np.argsort(arrival, kind="stable")
    return workload(
        arrival[order], random.exponential(1.0, 60), names=("app",), stream=owner[order].astype(np.int32),
        streams=streams, tasks=("detection",), noise=random.standard_normal(180),
    )  # fmt: skip


def loads_match(run: Simulation) -> None:
    """Each worker's load and streams, recounted from the streams that are alive."""
    streams = run.columns.streams[run.columns.streams["live"] == 1]
    functions = run.core.functions
    counted = np.bincount(streams["worker"], minlength=len(functions))
    assert functions["streams"].tolist() == counted.tolist()
    load = np.bincount(streams["worker"], streams["rate"], len(functions))
    assert functions["load"].tolist() == pytest.approx(load.tolist(), abs=1e-9)


@given(edges(), queries(), st.sampled_from(ROUTE))
@settings(max_examples=40)
def test_every_event_of_streams_keeps_the_books(world: Scenario, requests: Workload, policy: str) -> None:
    run = simulation(world, requests, route=policy)
    run.core.world[0]["next_sample"] = np.inf
    reason = records.OUT_OF_BUDGET
    while reason == records.OUT_OF_BUDGET:
        reason = step(run)
        audit.check(run)
        loads_match(run)
    results = run.core.results
    refused = results["status"] == records.REJECTED
    unbound = run.columns.streams["worker"][requests.stream] == records.NONE
    assert np.all(refused[unbound]), "a query of a refused stream was answered"
    late = results["completion"] > requests.arrival + run.columns.streams["deadline"][requests.stream]
    assert np.array_equal(late & (results["status"] == records.COMPLETED), results["late"] == 1)
