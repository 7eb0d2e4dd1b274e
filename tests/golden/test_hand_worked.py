"""Small runs worked out by hand: every number here was computed on paper, and stands in the comment."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.worlds import MIB, controlled, finished, one_stream, outcome, scenario, simulation, workload

from trimtab.control.simulated import SimulatedPlatform
from trimtab.sim.outcome import COMPLETED, REJECTED

GIB = 1024 * MIB
WATTS = (100.0, 110.0, 120.0, 130.0, 140.0, 150.0, 160.0, 170.0, 180.0, 190.0, 200.0)


def exactly(values: list[float]) -> object:
    """To twelve digits."""
    return pytest.approx(values, rel=1e-12, abs=1e-12, nan_ok=True)


def test_cold_start_then_warm_reuse() -> None:
    # cold: create 0.5 (no core), init 1 core-second at speed 2 = 0.5, init off the CPU 0.25: starts at 1.25,
    # work 3 at speed 2 = 1.5: ends at 2.75. Warm at 10: starts at once, ends at 11.5.
    world = scenario([{"create": 0.5, "init": 1.0, "init_off_cpu": 0.25}], [{"speed": 2.0}])
    done = outcome(world, workload([0.0, 10.0], 3.0, duration=20.0))
    assert done.start.tolist() == exactly([1.25, 10.0])
    assert done.completion.tolist() == exactly([2.75, 11.5])
    assert done.cold.tolist() == [True, False]
    # busy: (1 + 3 + 3) / 2 core-seconds of this speed over one core and 20 s
    assert done.meters["busy_core_seconds"] == pytest.approx(3.5, rel=1e-12)
    assert done.meters["cpu_utilisation"] == pytest.approx(3.5 / 20.0, rel=1e-12)
    # a request was there 2.75 + 1.5 s
    assert done.meters["cpu_utilisation_active"] == pytest.approx(3.5 / 4.25, rel=1e-12)
    assert done.meters["mean_inflight"] == pytest.approx(4.25 / 20.0, rel=1e-12)


def test_initialisation_competes_for_the_core() -> None:
    # A runs alone until B's container is created at 1; then init of B (1) and A (3 - 1 = 2 left) share: B's init is
    # done at 3 (1 / 0.5), A has 1 left; then B's work 1 and A's 1 share: both end at 5
    world = scenario([{}, {"create": 1.0, "init": 1.0}])
    done = outcome(world, workload([0.0, 0.0], [3.0, 1.0], [0, 1], ("f0", "f1")))
    assert done.start.tolist() == exactly([0.0, 3.0])
    assert done.completion.tolist() == exactly([5.0, 5.0])


@pytest.mark.parametrize(("gap", "cold"), [(9.999, False), (10.0, True), (10.001, True)])
def test_keep_alive_ends_at_its_exact_instant(gap: float, cold: bool) -> None:
    # idle from 1 on, 10 s: at 11 it goes before an arrival of the same instant is served
    world = scenario([{}], platform={"keep_alive": {"seconds": 10.0}})
    done = outcome(world, workload([0.0, 1.0 + gap], 1.0))
    assert done.cold.tolist() == [True, cold]


def test_instances_expire_after_the_last_request_too() -> None:
    # up from 0 to 1 + 10 = 11 of 100 s; the run's meters go on to the end of the workload
    world = scenario([{}], [{"price": 3.6}], platform={"keep_alive": {"seconds": 10.0}})
    done = outcome(world, workload([0.0], 1.0, duration=100.0))
    assert done.meters["instance_seconds"] == pytest.approx(11.0, rel=1e-12)
    assert done.meters["idle_instance_seconds"] == pytest.approx(10.0, rel=1e-12)
    assert done.meters["starts_stops"] == 2
    assert done.meters["host_hours"] == pytest.approx(100.0 / 3600.0, rel=1e-12)
    assert done.meters["cost_usd"] == pytest.approx(0.1, rel=1e-12)  # 100 s at 3.6 USD an hour


def test_least_recently_used_goes_first() -> None:
    # room for two: A ends at 1, B at 3, A again at 5; C at 6 evicts B (idle since 3), not A (idle since 5);
    # A at 8 is warm, B at 10 is cold again and evicts C (idle since 7), not A (idle since 9)
    world = scenario([{}, {}, {}], [{"memory": 512 * MIB}])
    done = outcome(world, workload([0, 2, 4, 6, 8, 10, 12], 1.0, [0, 1, 0, 2, 0, 1, 0], ("f0", "f1", "f2")))
    assert done.cold.tolist() == [True, True, False, True, False, True, False]
    assert done.meters["evictions"] == 2


def test_head_of_the_queue_blocks_all() -> None:
    # 1 GiB: A (512) runs until 4, B (768) waits for it from 1, and C (256) from 2 behind B although it would fit
    world = scenario(
        [{"memory": 512 * MIB}, {"memory": 768 * MIB}, {"memory": 256 * MIB}], [{"cores": 4.0, "memory": GIB}]
    )
    done = outcome(world, workload([0, 1, 2], [4.0, 1.0, 1.0], [0, 1, 2], ("f0", "f1", "f2")))
    assert done.start.tolist() == exactly([0.0, 4.0, 4.0])
    assert done.completion.tolist() == exactly([4.0, 5.0, 5.0])


@pytest.mark.parametrize(("serial", "starts"), [(False, [2.0, 2.0, 2.0]), (True, [2.0, 4.0, 6.0])])
def test_creation_one_at_a_time(serial: bool, starts: list[float]) -> None:
    world = scenario([{"create": 2.0}], [{"cores": 4.0}], platform={"serial_creation": serial})
    done = outcome(world, workload([0, 0, 0], 1.0))
    assert done.start.tolist() == exactly(starts)


def test_two_requests_in_one_instance() -> None:
    # concurrency 2 on one core, work 2: the first runs alone until 1 (1 left), then both at half speed; the first
    # ends at 3, the second then has 1 left alone and ends at 4; nobody has to start another instance
    done = outcome(scenario([{"concurrency": 2, "instances": 1}]), workload([0.0, 1.0], 2.0))
    assert done.completion.tolist() == exactly([3.0, 4.0])
    assert done.cold.tolist() == [False, False]


def test_concurrency_by_cluster_is_exact() -> None:
    world = scenario([{"concurrency": 2, "instances": 1}], platform={"dispatch": "cluster", "instances": "controlled"})
    # the third waits for a place until 3, then shares with the second (1 left): 1 each at half speed until 5, when
    # the second has ended and the third has 1 left alone: ends at 6
    done = outcome(world, workload([0.0, 1.0, 1.5], 2.0))
    assert done.start.tolist() == exactly([0.0, 1.0, 3.0])
    assert done.completion.tolist() == exactly([3.0, 5.0, 6.0])


def test_chain_of_functions() -> None:
    # f0 1 s, then f1 of constant work 2 with create 0.5, then 0.25 s off the CPU: 1 + 0.5 + 2 + 0.25 = 3.75;
    # the deadline of the first function, 3.75, is met exactly; the second request is warm: 3.25
    world = scenario(
        [
            {"next": "f1", "deadline": 3.75},
            {"create": 0.5, "work": 2.0, "distribution": "constant", "work_deviation": 0.0, "off_cpu": 0.25},
        ]
    )
    done = outcome(world, workload([0.0, 10.0], 1.0, names=("f0", "f1")))
    assert done.completion.tolist() == exactly([3.75, 13.25])
    assert done.start.tolist() == exactly([0.0, 10.0])
    assert done.late.tolist() == [False, False]
    assert done.meters["offered_load"] == pytest.approx(6.0)  # 2 · (1 + 2)


def test_a_chain_that_is_refused_half_way_has_failed() -> None:
    # the second function needs the whole host while the first of another request runs on it
    world = scenario(
        [{"next": "f1"}, {"memory": GIB, "work": 1.0, "distribution": "constant", "work_deviation": 0.0}, {}],
        [{"cores": 2.0}],
        platform={"queue_limit": 0},
    )
    done = outcome(world, workload([0.0, 0.5], [1.0, 5.0], [0, 2], ("f0", "f1", "f2")))
    assert done.status.tolist() == [1, COMPLETED]  # 1: failed, it had been accepted


def test_batches_form_greedily() -> None:
    # size 3, 0.5 + 0.25 n: the first goes alone 0 to 0.75; four more wait: three from 0.75 to 2, one from 2 to 2.75
    world = scenario(
        [{"instances": 1, "batch": {"size": 3, "base": 0.5, "each": 0.25}}],
        platform={"dispatch": "cluster", "instances": "controlled"},
    )
    done = outcome(world, workload([0.0, 0.1, 0.2, 0.3, 0.4], 1.0))
    assert done.start.tolist() == exactly([0.0, 0.75, 0.75, 0.75, 2.0])
    assert done.completion.tolist() == exactly([0.75, 2.0, 2.0, 2.0, 2.75])


def test_full_batches_one_after_the_other() -> None:
    # 12 at once on two workers of size 3, 1 s a batch: two batches at 1, two at 2
    world = scenario(
        [{"instances": 2, "batch": {"size": 3, "base": 1.0, "each": 0.0}}],
        platform={"dispatch": "cluster", "instances": "controlled"},
    )
    done = outcome(world, workload([0.0] * 12, 1.0))
    # the first arrival finds an idle worker and goes alone, the second too; of the other ten three and three run
    # from 1 to 2, three and one from 2 to 3
    assert done.completion.tolist() == exactly([1.0, 1.0, *[2.0] * 6, *[3.0] * 4])


def test_a_batch_on_demand_is_served_as_a_batch() -> None:
    # created in 1 s; the three that wait by then are one batch: 1 + 0.5 + 0.75 = 2.25
    world = scenario(
        [{"create": 1.0, "batch": {"size": 3, "base": 0.5, "each": 0.25}}],
        [{"memory": 256 * MIB}],
        platform={"dispatch": "cluster"},
    )
    done = outcome(world, workload([0.0, 0.25, 0.5], 100.0))
    assert done.completion.tolist() == exactly([2.25, 2.25, 2.25])


def test_deadlines_and_lost_requests() -> None:
    # work 1 on one core first in first out: ends at 1, 2, 3; a deadline of 2 s is missed by the third alone
    world = scenario([{"deadline": 2.0}], [{"price": 1.0}], platform={"cpu": "fifo"}, violation_price=0.5)
    done = outcome(world, workload([0, 0, 0], 1.0, duration=3600.0))
    assert done.completion.tolist() == exactly([1.0, 2.0, 3.0])
    assert done.late.tolist() == [False, False, True]
    assert done.meters["cost_usd"] == pytest.approx(1.0 + 0.5)  # an hour, and one violation


def test_cores_first_in_first_out() -> None:
    # two cores: 1 and 2 run, 3 takes the core of 1 at 2, 4 that of 2 at 3
    world = scenario([{"memory": 1.0}], [{"cores": 2.0}], platform={"cpu": "fifo"})
    done = outcome(world, workload([0, 0, 0, 0], [2.0, 3.0, 2.0, 1.0]))
    assert done.completion.tolist() == exactly([2.0, 3.0, 4.0, 4.0])


def test_no_queue_means_refusal() -> None:
    world = scenario([{"memory": GIB}], platform={"queue_limit": 1})
    done = outcome(world, workload([0.0, 0.1, 0.2], 1.0))
    assert done.status.tolist() == [COMPLETED, COMPLETED, REJECTED]
    assert done.completion.tolist() == exactly([1.0, 2.0, math.nan])


def edge(**variant: object) -> object:
    """One worker behind an antenna."""
    return scenario(
        [],
        variants=[{"name": "v", "accuracy": 50, "batch": {"size": 2, "base": 0.1, "each": 0.05}} | variant],
        workers=[{"site": "here", "variant": "v"}],
        applications=[{"name": "app", "deadline": [1, 1], "rate": [1, 1], "duration": [9, 9], "accuracy": 10}],
        platform={"dispatch": "cluster", "instances": "controlled"},
        network={"links": [{"source": "antenna", "site": "here", "delay": 0.02, "bandwidth": 1e6}]},
        workload={"source": "streams", "duration": 10},
    )


def test_network_there_and_back() -> None:
    # there: access 0.003 + delay 0.02 + 10 kB / 2 MB/s = 0.005 + 10 kB / 1 MB/s = 0.01, together 0.038;
    # service 0.15; back: 0.003 + 0.02, together 0.211. The second, at 0.05, arrives at 0.088 and waits until 0.188:
    # 0.188 + 0.15 + 0.023 = 0.361
    requests = one_stream([0.0, 0.05], size=1e4, bandwidth=2e6, access=0.003, deadline=0.3)
    done = outcome(edge(), requests)  # type: ignore[arg-type]
    assert done.completion.tolist() == exactly([0.211, 0.361])
    assert done.start.tolist() == exactly([0.038, 0.188])
    assert done.late.tolist() == [False, True]  # 0.361 - 0.05 = 0.311 > 0.3


def tasks(**platform: object) -> object:
    """Two hosts whose tasks are assigned every interval; 100 MB/s between them."""
    machine = {"cores": 2.0, "memory": 2e9, "network": 1e8, "power": WATTS}
    return scenario(
        [{"memory": 1e9, "parallelism": 2.0}],
        [machine, machine],
        platform={"dispatch": "interval"} | platform,
        network={"links": [{"site": "here", "delay": 0.5}]},
    )


def test_a_task_migrates() -> None:
    # arrives at 0, is assigned at 1, its data are there at 1.5, runs with 2 cores; work 8: until 3 it has done 3;
    # migrates 1e9 / 1e8 = 10 s, runs from 13 on: 5 left / 2 = 2.5, ends at 15.5, the answer takes 0.5: 16
    run = simulation(tasks(), workload([0.0], 8.0))  # type: ignore[arg-type]
    run.advance(1.0)
    assert run.assign(run.tasks(), np.array([0], np.int32)) == 0
    run.advance(3.0)
    assert run.assign(run.tasks(), np.array([1], np.int32)) == 0
    run.advance(5.0)
    assert run.assign(run.tasks(), np.array([0], np.int32)) == 1  # on its way: refused
    done = finished(run)
    assert done.start.tolist() == exactly([1.5])
    assert done.completion.tolist() == exactly([16.0])
    # two hosts of 100 W idle for 16 s, and 1.5 + 2.5 s at 200 W on one of them: 3200 + 4 · 100 J
    assert done.meters["energy_kwh"] == pytest.approx(3600.0 / 3.6e6, rel=1e-12)


def test_a_sleeping_host_is_woken() -> None:
    # assigned at 1, data there at 1.5, the host wakes from 1 to 4; work 8 on 2 cores: 4 to 8, answer at 8.5
    run = simulation(tasks(hibernate=True, wake=3.0, hibernated_power=5.0), workload([0.0], 8.0))  # type: ignore[arg-type]
    run.advance(1.0)
    run.assign(run.tasks(), np.array([0], np.int32))
    done = finished(run)
    assert done.start.tolist() == exactly([4.0])
    assert done.completion.tolist() == exactly([8.5])
    # first host: 1 s asleep at 5, 3 s waking at 100, 4 s full at 200, 0.5 s asleep at 5; second: 8.5 s at 5
    joule = 5 + 300 + 800 + 2.5 + 42.5
    assert done.meters["energy_kwh"] == pytest.approx(joule / 3.6e6, rel=1e-12)
    # busy 8 core-seconds of the 4 s in which a task was on a host that had two cores (1 to 8)
    assert done.meters["cpu_utilisation_active"] == pytest.approx(8.0 / 14.0, rel=1e-12)


def test_every_task_is_as_far_away_as_its_gateway() -> None:
    # one core a task; from the north 1 s to the first site and 2 to the second, from the south 3 and 4
    ways = [("north", "a", 1.0), ("north", "b", 2.0), ("south", "a", 3.0), ("south", "b", 4.0)]
    world = scenario(
        [{"parallelism": 1.0}],
        [{"cores": 2.0, "site": "a", "network": 64 * MIB}, {"cores": 2.0, "site": "b", "network": 64 * MIB}],
        decision="assign",
        platform={"dispatch": "interval"},
        network={"links": [{"source": source, "site": site, "delay": delay} for source, site, delay in ways]},
        workload={"source": "tasks", "duration": 10.0, "sources": {"north": 3.0, "south": 1.0}},
    )
    run = simulation(world, workload([0.0, 0.0, 0.0], 5.0, source=np.array([0, 1, 1], np.int32)))
    # what policies see is the mean: 0.75 x 1 + 0.25 x 3 and 0.75 x 2 + 0.25 x 4
    assert SimulatedPlatform(run).hosts().delay.tolist() == exactly([1.5, 2.5])
    run.advance(1.0)
    run.assign(run.tasks(), np.array([0, 0, 1], np.int32))
    # the second begins at 4; at 5 it goes to the other site, 256 MiB at 64 MiB/s, with 4 s of work left
    run.advance(5.0)
    run.assign(run.tasks(), np.array([0, 1, 1], np.int32))
    done = finished(run)
    assert done.start.tolist() == exactly([1.0 + 1.0, 1.0 + 3.0, 1.0 + 4.0])
    # answers go back to the gateway from where the task ended
    assert done.completion.tolist() == exactly([7.0 + 1.0, 13.0 + 4.0, 10.0 + 4.0])


def test_a_host_that_one_task_leaves_and_another_enters_stays_awake() -> None:
    # the first is assigned at 1 and runs on host 0, awake from 4 on; at 6 it is sent to host 1, 10 s on the way, and
    # the second takes its place: its data are there at 6.5, and it need not wait until the host has woken again
    run = simulation(tasks(hibernate=True, wake=3.0), workload([0.0, 5.0], 8.0))  # type: ignore[arg-type]
    run.advance(1.0)
    run.assign(run.tasks(), np.array([0], np.int32))
    run.advance(6.0)
    assert run.assign(run.tasks(), np.array([1, 0], np.int32)) == 0
    done = finished(run)
    assert done.start.tolist() == exactly([4.0, 6.5])
    # 4 of 8 done by 6, the rest from 16 to 18; the second from 6.5 to 10.5; answers take 0.5
    assert done.completion.tolist() == exactly([18.5, 11.0])


def test_power_between_the_points_of_the_curve() -> None:
    # a request capped at 1 of 8 cores: 12.5 % lies a quarter of the way from 10 % to 20 %: 100 + 0.25 · 40 = 110 W;
    # 8 s of it and 2 s idle at 50 W: 880 + 100 J
    curve = (50.0, 100.0, 140.0, 170.0, 190.0, 200.0, 205.0, 210.0, 215.0, 220.0, 225.0)
    world = scenario([{}], [{"cores": 8.0, "power": curve}])
    done = outcome(world, workload([0.0], 8.0, duration=10.0))
    assert done.meters["energy_kwh"] == pytest.approx(980.0 / 3.6e6, rel=1e-12)


def test_a_larger_instance_in_the_middle_of_a_run() -> None:
    # work 4 with 0.5 core until 2: 1 done; then 1.5 cores, capped by parallelism 1.5: 3 / 1.5 = 2, ends at 4
    world = scenario(
        [{"cpu": 0.5, "parallelism": None, "instances": 1}],
        [{"cores": 4.0}],
        platform={"dispatch": "cluster", "instances": "controlled"},
    )
    run = simulation(world, workload([0.0], 4.0))
    run.advance(2.0)
    run.resize(0, 1.5, None)
    assert finished(run).completion.tolist() == exactly([4.0])


def test_scale_out_takes_its_start_up_time_and_scale_in_lets_work_end() -> None:
    # one instance serves 0 to 4; another is asked for at 1 and there at 3: it takes the second request; both are
    # given up at 3.5 and go when they are done, at 4 and 7; the third waits for one that is asked for at 8: 10 to 14
    world = scenario(
        [{"create": 2.0, "instances": 1}],
        [{"cores": 4.0}],
        platform={"dispatch": "cluster", "instances": "controlled"},
        control={"minimum": 0},
    )
    run = simulation(world, workload([0.0, 0.5, 3.6], 4.0))
    for when, count in (1.0, 2), (3.5, 0), (8.0, 1):
        run.advance(when)
        assert run.scale(0, count) == 0
    done = finished(run)
    assert done.start.tolist() == exactly([0.0, 3.0, 10.0])
    assert done.completion.tolist() == exactly([4.0, 7.0, 14.0])
    # 0 to 4, 1 to 7, 8 to 14
    assert done.meters["instance_seconds"] == pytest.approx(4 + 6 + 6, rel=1e-12)


def test_a_control_loop_that_holds() -> None:
    world = scenario(
        [{"instances": 2, "cpu": 1.0}],
        [{"cores": 2.0}],
        decision="scale",
        platform={"dispatch": "cluster", "instances": "controlled"},
    )
    done = controlled(world, workload([0.0, 0.0, 0.0], 100.0), "scale", "fixed", instances=2)
    assert done.completion.tolist() == exactly([100.0, 100.0, 200.0])


@pytest.mark.parametrize("period", [400.0, 1000.0])
def test_hybrid_histogram_keeps_less_for_the_same_cold_starts(period: float) -> None:
    # called every ``period``: with idle times learned after ten of them, the instance is unloaded at once and
    # loaded again just before the next call; fixed keeps it for 1,200 s, that is all the time
    arrival = np.arange(60) * period
    fixed, hybrid = (
        outcome(
            scenario([{"create": 1.0}], platform={"keep_alive": {"policy": policy, "seconds": 1200.0}}),
            workload(arrival, 1.0),
        )
        for policy in ("fixed", "hybrid-histogram")
    )
    assert int(fixed.cold.sum()) == int(hybrid.cold.sum()) == 1
    assert hybrid.meters["instance_seconds"] < 0.5 * fixed.meters["instance_seconds"]


def test_a_host_that_dies_and_returns() -> None:
    # one request is lost at 1, one that arrives meanwhile finds no host, one after the return is served from 5 on;
    # the second outage begins before the first is over: the host is back at 2 + 3 = 5, not at 1 + 2 = 3
    world = scenario(
        [{}],
        faults=[
            {"kind": "host-down", "host": 0, "at": 1.0, "lasts": 2.0},
            {"kind": "host-down", "host": 0, "at": 2.0, "lasts": 3.0},
        ],
    )
    done = outcome(world, workload([0.5, 3.5, 5.0], 2.0))
    assert done.status.tolist() == [1, REJECTED, COMPLETED]
    assert done.completion.tolist() == exactly([math.nan, math.nan, 7.0])


def test_a_cluster_serves_what_waited_for_a_host() -> None:
    # the only host is down from 0 to 5: the request waits, and starts when it is back
    world = scenario(
        [{}],
        platform={"dispatch": "cluster"},
        faults=[{"kind": "host-down", "host": 0, "at": 0.0, "lasts": 5.0}],
    )
    done = outcome(world, workload([1.0], 2.0))
    assert done.completion.tolist() == exactly([7.0])
