"""Means of the engine against queueing theory: within 1 %, and inside the 95 % interval of ten runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.theory.formulas import (
    after_warm_up,
    assert_agrees,
    batch_sojourn,
    constant,
    erlang_b,
    erlang_c,
    exponential,
    lognormal,
    uniform,
)
from tests.worlds import MIB, outcome, scenario, workload

from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import REJECTED, Outcome

FOR_EVER = {"seconds": 1e9}


def poisson(seed: int, rate: float, count: int, draw) -> tuple[np.ndarray, np.ndarray]:
    """Arrivals and work of one replication."""
    random = np.random.default_rng(seed)
    return np.cumsum(random.exponential(1.0 / rate, count)), draw(random, count)


def simulated(world: Scenario, seed: int, rate: float, count: int, draw) -> Outcome:
    """One replication."""
    arrival, work = poisson(seed, rate, count, draw)
    return outcome(world, workload(arrival, work), seed)


def mean_time(done: Outcome) -> float:
    """Mean completion time after the warm-up."""
    return float(np.mean(after_warm_up(done.fct)))


def one_shared_core() -> Scenario:
    """A core that all requests share: one instance takes any number of them."""
    return scenario([{"concurrency": 10_000, "instances": 1}], platform={"keep_alive": FOR_EVER})


def containers(count: int, **platform: object) -> Scenario:
    """A host with ``count`` cores and memory for as many containers, all of them warm."""
    return scenario(
        [{"instances": count}],
        [{"cores": count, "memory": count * 256 * MIB}],
        platform={"keep_alive": FOR_EVER} | platform,
    )


@pytest.mark.parametrize(("load", "count"), [(0.3, 100_000), (0.5, 200_000), (0.8, 600_000)])
def test_processor_sharing_of_exponential_work(load: float, count: int) -> None:
    # M/M/1-PS with mean work 1: T = 1 / (1 - rho), that is 1.4286, 2 and 5
    world = one_shared_core()
    assert_agrees(lambda seed: mean_time(simulated(world, seed, load, count, exponential(1.0))), 1.0 / (1.0 - load))


@pytest.mark.parametrize(
    "draw", [lognormal(1.0, 2.0), constant(1.0), uniform(1.0)], ids=["lognormal", "constant", "uniform"]
)
def test_processor_sharing_is_insensitive_to_the_distribution(draw) -> None:
    # M/G/1-PS: T = E[S] / (1 - rho) = 1 / (1 - 0.6) = 2.5 whatever the distribution
    world = one_shared_core()
    assert_agrees(lambda seed: mean_time(simulated(world, seed, 0.6, 250_000, draw)), 2.5, first_seed=11)


def test_processor_sharing_by_one_container_each() -> None:
    # the same queue with a new container for every request, whose cold start takes no time
    world = scenario([{"memory": 0.0}], platform={"keep_alive": FOR_EVER})
    assert_agrees(lambda seed: mean_time(simulated(world, seed, 0.5, 200_000, exponential(1.0))), 2.0)


def test_processor_sharing_on_fast_cores() -> None:
    # two cores of speed 2.5, work 1, each request able to use both: a server of rate 5 with load 3.5 / 5 = 0.7,
    # so T = (1 / 5) / (1 - 0.7) = 2 / 3
    world = scenario([{"concurrency": 10_000, "instances": 1, "parallelism": None}], [{"cores": 2.0, "speed": 2.5}])
    assert_agrees(lambda seed: mean_time(simulated(world, seed, 3.5, 300_000, exponential(1.0))), 2.0 / 3.0)


def erlang_time(servers: int, load: float) -> float:
    """Mean time in M/M/c with mean work 1: 1 + C / (c - a)."""
    return 1.0 + erlang_c(servers, load) / (servers - load)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.6), (4, 3.0), (10, 8.0)])
def test_containers_on_a_host_queue_as_erlang_said(servers: int, load: float) -> None:
    world = containers(servers)
    theory = erlang_time(servers, load)
    assert_agrees(
        lambda seed: mean_time(simulated(world, seed, load, 300_000, exponential(1.0))), theory, first_seed=21
    )


def test_containers_behind_one_queue_of_a_cluster() -> None:
    # c = 6 instances on three hosts, offered 4.8 Erlang
    world = scenario(
        [{"instances": 6}],
        [{"cores": 2.0, "memory": 512 * MIB}] * 3,
        platform={"dispatch": "cluster", "instances": "controlled"},
    )
    assert_agrees(lambda seed: mean_time(simulated(world, seed, 4.8, 300_000, exponential(1.0))), erlang_time(6, 4.8))


def test_cores_first_in_first_out() -> None:
    # four cores, containers without limit: requests wait for a core instead of a container
    world = scenario([{"memory": 0.0}], [{"cores": 4.0}], platform={"cpu": "fifo", "keep_alive": FOR_EVER})
    assert_agrees(lambda seed: mean_time(simulated(world, seed, 3.0, 300_000, exponential(1.0))), erlang_time(4, 3.0))


@pytest.mark.parametrize(
    "draw", [exponential(1.0), lognormal(1.0, 1.5), constant(1.0)], ids=["exponential", "lognormal", "constant"]
)
def test_lost_calls_do_not_depend_on_the_distribution(draw) -> None:
    # Erlang B for 5 servers and 4 Erlang: 0.19907
    world = containers(5, queue_limit=0)

    def lost(seed: int) -> float:
        done = simulated(world, seed, 4.0, 200_000, draw)
        return float(np.mean(after_warm_up(done.status == REJECTED)))

    assert_agrees(lost, erlang_b(5, 4.0))


def test_calls_lost_by_a_cluster() -> None:
    world = scenario(
        [{"instances": 5}],
        [{"cores": 5.0, "memory": 5 * 256 * MIB}],
        platform={"dispatch": "cluster", "instances": "controlled", "queue_limit": 0},
    )

    def lost(seed: int) -> float:
        done = simulated(world, seed, 4.0, 200_000, exponential(1.0))
        return float(np.mean(after_warm_up(done.status == REJECTED)))

    assert_agrees(lost, erlang_b(5, 4.0), first_seed=31)


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_constant_work_waits_half_as_long(load: float) -> None:
    # M/D/1: T = 1 + rho / (2 (1 - rho)), that is 1.5 and 3
    world = containers(1)
    theory = 1.0 + load / (2.0 * (1.0 - load))
    assert_agrees(lambda seed: mean_time(simulated(world, seed, load, 300_000, constant(1.0))), theory)


def test_general_work_first_in_first_out() -> None:
    # Pollaczek-Khinchine: T = 1 + rho (1 + c²) / (2 (1 - rho)) = 1 + 0.5 · (1 + 1.44) / 1 = 2.22
    world = containers(1)
    assert_agrees(
        lambda seed: mean_time(simulated(world, seed, 0.5, 300_000, lognormal(1.0, 1.2))), 2.22, first_seed=41
    )


def batching(size: int, base: float, each: float) -> Scenario:
    """One worker that serves batches."""
    return scenario(
        [{"instances": 1, "batch": {"size": size, "base": base, "each": each}}],
        platform={"dispatch": "cluster", "instances": "controlled"},
    )


@pytest.mark.parametrize(
    ("size", "base", "each", "rate"), [(4, 1.0, 0.0, 2.5), (8, 0.5, 0.25, 2.0), (1, 0.25, 0.5, 1.0)]
)
def test_batches_against_the_embedded_chain(size: int, base: float, each: float, rate: float) -> None:
    theory = batch_sojourn(rate, size, lambda batch: base + each * batch)
    if size == 1:  # the chain itself, against M/D/1: D = 0.75, rho = 0.75, T = 0.75 + 0.75 · 0.75 / 0.5
        assert math.isclose(theory, 1.875, rel_tol=1e-9)
    world = batching(size, base, each)
    assert_agrees(lambda seed: mean_time(simulated(world, seed, rate, 200_000, constant(1.0))), theory, first_seed=51)


def test_discriminatory_sharing_of_two_classes() -> None:
    # M/M/1-DPS (Fayolle, Mitrani, Iasnogorodski 1980), weights 4 : 1, equal work 1, rates 0.3 and 0.4, rho = 0.7:
    # D = w1 (1 - rho1) + w2 (1 - rho2) = 4 · 0.7 + 1 · 0.6 = 3.4
    # T1 = (1 + rho2 (w2 - w1) / D) / (1 - rho) = (1 - 0.4 · 3 / 3.4) / 0.3 = 2.156863
    # T2 = (1 + rho1 (w1 - w2) / D) / (1 - rho) = (1 + 0.3 · 3 / 3.4) / 0.3 = 4.215686
    world = scenario(
        [
            {"memory": 4 * 64 * MIB, "concurrency": 10_000, "instances": 1},
            {"memory": 64 * MIB, "concurrency": 10_000, "instances": 1},
        ],
        platform={"weights": "memory", "keep_alive": FOR_EVER},
    )

    def times(seed: int, which: int) -> float:
        random = np.random.default_rng(seed)
        arrival = np.cumsum(random.exponential(1.0 / 0.7, 300_000))
        kind = (random.random(300_000) < 4.0 / 7.0).astype(np.int32)
        requests = workload(arrival, random.exponential(1.0, 300_000), kind, ("f0", "f1"))
        done = outcome(world, requests, seed)
        return float(np.mean(after_warm_up(done.fct[done.function == which])))

    assert_agrees(lambda seed: times(seed, 0), (1.0 - 0.4 * 3.0 / 3.4) / 0.3)
    assert_agrees(lambda seed: times(seed, 1), (1.0 + 0.3 * 3.0 / 3.4) / 0.3)
