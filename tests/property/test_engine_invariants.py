"""Random worlds under every policy, with faults: what must hold holds after each single event."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property import audit
from tests.property.strategies import MEMORY, PLACE, clusters, faults, functions, hosts, requests
from tests.worlds import MIB, scenario, simulation, step

from trimtab.scenario.model import Scenario
from trimtab.sim import records
from trimtab.sim.meters import meter_all
from trimtab.sim.simulation import Simulation
from trimtab.workload.table import Workload

World = tuple[Scenario, Workload]


class Presence:
    """Adds up how long each request was seen in flight: Little's law with failures, exactly."""

    def __init__(self, run: Simulation) -> None:
        meter_all(run.core)
        self.run, self.since, self.total = run, run.now, float(run.core.world[0]["inflight_seconds"])
        self.inside = self._inside()

    def _inside(self) -> int:
        return int((self.run.core.active["id"] >= 0).sum())

    def look(self) -> None:
        """After an event: those who were there stayed until now."""
        self.total += self.inside * (self.run.now - self.since)
        self.since, self.inside = self.run.now, self._inside()


def watched(run: Simulation, limit: int = 20_000) -> None:
    """Run event by event, audit after each, until nothing more happens."""
    presence, before = Presence(run), run.now
    run.core.world[0]["next_sample"] = math.inf  # samples change nothing, and there are many
    for _ in range(limit):
        reason = step(run)
        assert run.now >= before, "time went back"
        before = run.now
        presence.look()
        audit.check(run)
        if reason != records.OUT_OF_BUDGET:
            break
    else:
        raise AssertionError("the run does not end")
    run.finish()
    presence.look()
    assert math.isclose(float(run.core.world[0]["inflight_seconds"]), presence.total, rel_tol=1e-9, abs_tol=1e-9)


def assert_plausible(run: Simulation) -> None:
    """No answer before its work could be done; no start before arrival."""
    results, workload, core = run.core.results, run.workload, run.core
    done = results["status"] == records.COMPLETED
    fastest = float((core.hosts["speed"] * core.hosts["cores"]).max())
    batched = core.functions["batch"][workload.function] > 0
    least = np.where(batched, core.functions["base"][workload.function], workload.work / fastest)
    assert np.all((results["completion"] - workload.arrival)[done] >= least[done] - 1e-9)
    assert np.all(results["start"][done] >= workload.arrival[done])
    assert np.all(results["completion"][done] >= results["start"][done] - 1e-12)
    assert np.all(np.isnan(results["completion"][~done]))


@given(clusters(), st.sampled_from(PLACE), st.integers(0, 5))
@settings(max_examples=40)
def test_every_event_keeps_the_books(world: World, policy: str, seed: int) -> None:
    run = simulation(*world, seed, place=policy)
    audit.check(run)
    watched(run)
    assert_plausible(run)


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["scale", "scale", "scale", "cpu", "memory"]),
        st.sampled_from([0.0, 0.25, 0.75, 1.0, 2.0]),
        st.integers(0, 2),
        st.integers(0, 7),
        MEMORY,
    ),
    min_size=1,
    max_size=25,
)


def change(run: Simulation, kind: str, function: int, count: int, memory: int) -> None:
    """One decision of a control loop, sensible or not."""
    function %= len(run.core.functions)
    if kind == "scale":
        missing = run.scale(function, count)
        after = run.core.functions[function]
        if run.scenario.platform.instances == "controlled":
            assert after["ready"] + after["starting"] == count - missing
    elif kind == "cpu":
        run.resize(function, (count + 1) / 4.0, None)
    else:
        run.resize(function, None, memory * MIB)


@given(clusters(), st.sampled_from(PLACE), CHANGES)
@settings(max_examples=40)
def test_decisions_at_any_time_keep_the_books(world: World, policy: str, changes: list[Any]) -> None:
    run = simulation(*world, place=policy)
    for kind, pause, function, count, memory in changes:
        run.advance(run.now + pause)
        audit.check(run)
        change(run, kind, function, count, memory)
        audit.check(run)
    watched(run)


@st.composite
def batches(draw: st.DrawFn) -> World:
    """A world whose tasks are assigned every interval."""
    rows, machines = draw(functions()), draw(hosts())
    platform = {
        "dispatch": "interval",
        "hibernate": draw(st.booleans()),
        "wake": draw(st.sampled_from([0.0, 0.5, 3.0])),
        "cpu": draw(st.sampled_from(["sharing", "fifo"])),
    }
    largest = max(each["memory"] for each in machines)
    rows = [row | {"memory": min(row["memory"], largest), "instances": None} for row in rows]
    links = [{"site": site, "delay": 0.1} for site in sorted({each["site"] for each in machines})]
    world = scenario(rows, machines, platform=platform, faults=draw(faults(machines)), network={"links": links})
    return world, draw(requests([row["name"] for row in rows]))


@given(batches(), st.integers(0, 2**31), st.sampled_from([0.25, 0.5, 1.1]))
@settings(max_examples=40)
def test_any_plan_keeps_the_books(world: World, seed: int, interval: float) -> None:
    run, random = simulation(*world), np.random.default_rng(seed)
    for number in range(1, 200):
        run.advance(number * interval)
        if run.ended:
            break
        audit.check(run)
        slots = run.tasks()
        # one entry in four names a host that is not there
        plan = random.integers(-2, len(run.core.hosts) + 1, len(slots)).astype(np.int32)
        current = run.core.active["host"][slots].copy()
        refused = run.assign(slots, plan)
        audit.check(run)
        impossible = (plan != current) & ((plan < records.NONE) | (plan >= len(run.core.hosts)))
        assert refused >= int(impossible.sum())
        moved = run.core.active["host"][slots] != current
        assert not np.any(moved & (plan != run.core.active["host"][slots]))


@given(clusters(), st.sampled_from(PLACE))
@settings(max_examples=40)
def test_requests_end_once_and_the_run_ends(world: World, policy: str) -> None:
    run = simulation(*world, place=policy)
    run.advance()
    counts = np.bincount(run.core.results["status"], minlength=4)
    total = run.core.world[0][["completed", "failed", "rejected", "inflight"]].item()
    assert counts.tolist() == list(total)
    if run.scenario.platform.instances == "on-demand" and run.scenario.platform.dispatch == "host":
        assert counts[records.PENDING] == 0, "an invoker never forgets a request"
