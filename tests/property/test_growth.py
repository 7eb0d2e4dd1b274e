"""Tables grow while a run is on: bursts that need far more room than there was."""

from __future__ import annotations

import numpy as np
from tests.property import audit
from tests.worlds import MIB, finished, scenario, simulation, workload

from trimtab.sim import records
from trimtab.sim.outcome import COMPLETED, FAILED

BURST = 50_000


def test_a_burst_by_host() -> None:
    # 2 hosts of 4 containers: 50,000 at one instant, 8 at a time, 0.01 s each on a core of their own
    world = scenario([{}], [{"cores": 4.0}] * 2)
    run = simulation(world, workload(np.zeros(BURST), 0.01))
    run.advance(0.0)
    assert int(run.core.world[0]["inflight"]) == BURST
    audit.check(run)
    done = finished(run)
    assert np.all(done.status == COMPLETED)
    # 50,000 / 8 rounds of 0.01 s
    assert abs(done.completion.max() - BURST / 8 * 0.01) < 1e-6


def test_a_burst_of_cold_starts() -> None:
    # an instance for each of them at once, each waiting 1 s to be created; 2,000 cores: 25 rounds of 0.5 s
    world = scenario([{"memory": 1.0, "create": 1.0}], [{"cores": 2_000.0}], platform={"cpu": "fifo"})
    run = simulation(world, workload(np.zeros(BURST), 0.5))
    run.advance(0.5)
    assert int(run.core.world[0]["starting"]) == BURST
    audit.check(run)
    done = finished(run)
    assert abs(done.completion.max() - (1.0 + BURST / 2_000 * 0.5)) < 1e-6


def test_a_burst_by_cluster_and_its_end_by_a_fault() -> None:
    # all 4,000 run at once on one host (its CPU has to be shared out to all), and the host dies under them
    count = 4_000
    world = scenario(
        [{"memory": 1.0}],
        platform={"dispatch": "cluster"},
        faults=[{"kind": "host-down", "host": 0, "at": 0.5, "lasts": 1.0}],
    )
    run = simulation(world, workload(np.append(np.zeros(count), 2.0), 1.0))
    run.advance(1.0)
    audit.check(run)
    assert int(run.core.world[0]["failed"]) == count
    done = finished(run)
    assert done.status.tolist() == [FAILED] * count + [COMPLETED]


def test_room_for_all_that_one_event_starts() -> None:
    # a function that fills the host ends, and 3,000 small ones that waited behind it start in one event
    count = 3_000
    world = scenario([{"memory": count * MIB}, {"memory": MIB}], [{"memory": count * MIB, "cores": 8.0}])
    requests = workload(np.zeros(count + 1), 1.0, np.append(0, np.ones(count, int)), ("f0", "f1"))
    run = simulation(world, requests)
    run.advance(1.0)
    assert int(run.core.world[0]["instances"]) == count
    audit.check(run)
    run.advance()
    # 1 s alone, then 3,000 core-seconds on 8 cores
    assert abs(run.core.results["completion"].max() - (1.0 + count / 8.0)) < 1e-6


def test_a_large_batch_is_answered_in_one_event() -> None:
    world = scenario(
        [{"instances": 1, "batch": {"size": 1024, "base": 1.0, "each": 0.0}, "next": "f1"}, {"instances": 1}],
        platform={"dispatch": "cluster", "instances": "controlled"},
    )
    run = simulation(world, workload(np.zeros(3_000), 1.0, names=("f0", "f1")))
    run.advance(1.0)
    audit.check(run)
    run.advance(3.5)
    assert int(run.core.functions["completions"][0]) == 1 + 1024 + 1024
    audit.check(run)


def test_decisions_find_room_too() -> None:
    # 5,000 instances asked for at once, resized and given up again, on top of requests in flight
    world = scenario(
        [{"memory": 1.0, "create": 1.0, "cpu": 0.5}],
        [{"cores": 64.0}],
        platform={"dispatch": "cluster", "instances": "controlled"},
        control={"minimum": 0},
    )
    run = simulation(world, workload(np.zeros(2_000), 5.0))
    run.advance(0.5)
    assert run.scale(0, 5_000) == 0
    run.advance(2.0)
    assert int(run.core.world[0]["queued"]) == 0
    audit.check(run)
    run.resize(0, 0.25, None)
    run.resize(0, 0.75, 2.0)
    audit.check(run)
    run.scale(0, 0)
    audit.check(run)
    assert int(run.core.functions[0]["draining"]) == 2_000
    run.advance()
    assert np.all(run.core.results["status"] == records.COMPLETED)
