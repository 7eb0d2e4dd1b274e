"""Little's law, exactly: the integral of requests in flight is the sum of the times that they were there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.worlds import MIB, little, one_stream, scenario, simulation, workload

from trimtab.scenario.model import Scenario
from trimtab.sim.simulation import Simulation

COLD = {"create": 0.3, "init": 0.2, "init_off_cpu": 0.1}
TWO = ({"name": "f0", "next": "f1"} | COLD, {"name": "f1", "distribution": "lognormal", "off_cpu": 0.05} | COLD)
HOSTS = ({"cores": 2.0, "memory": 1024 * MIB}, {"cores": 1.0, "memory": 768 * MIB, "speed": 1.3})

CASES: dict[str, dict[str, Any]] = {
    "host": {"functions": [COLD]},
    "host with evictions": {"functions": [COLD, {"memory": 600 * MIB} | COLD]},
    "serial creation": {"functions": [COLD], "platform": {"serial_creation": True}},
    "weights": {"functions": [COLD, {"memory": 128 * MIB}], "platform": {"weights": "memory"}},
    "cores first in first out": {"functions": [COLD], "platform": {"cpu": "fifo"}},
    "loss": {"functions": [COLD], "platform": {"queue_limit": 1}},
    "short keep-alive": {"functions": [COLD], "platform": {"keep_alive": {"seconds": 0.5}}},
    "concurrency": {"functions": [{"concurrency": 3, "cpu": 1.0} | COLD]},
    "chain": {"functions": TWO},
    "cluster on demand": {"functions": [COLD], "platform": {"dispatch": "cluster"}},
    "cluster chain": {"functions": TWO, "platform": {"dispatch": "cluster"}},
    "cluster fifo": {"functions": [COLD], "platform": {"dispatch": "cluster", "cpu": "fifo"}},
    "controlled": {
        "functions": [{"instances": 3} | COLD],
        "platform": {"dispatch": "cluster", "instances": "controlled"},
    },
    "controlled loss": {
        "functions": [{"instances": 2}],
        "platform": {"dispatch": "cluster", "instances": "controlled", "queue_limit": 2},
    },
    "batch": {
        "functions": [{"instances": 2, "batch": {"size": 3, "base": 0.2, "each": 0.1}}],
        "platform": {"dispatch": "cluster", "instances": "controlled"},
    },
    "batch on demand": {
        "functions": [{"batch": {"size": 3, "base": 0.2, "each": 0.1}} | COLD],
        "platform": {"dispatch": "cluster", "keep_alive": {"seconds": 1.0}},
    },
}


def world_of(case: str) -> Scenario:
    """The scenario of a case."""
    given = dict(CASES[case])
    return scenario(given.pop("functions"), HOSTS, **given)


def begun(case: str) -> Simulation:
    """A case before its run: 3,000 requests, bursts included."""
    random = np.random.default_rng(3)
    count, world = 3_000, world_of(case)
    arrival = np.sort(np.floor(np.cumsum(random.exponential(0.6, count)) * 4.0) / 4.0)
    names = tuple(each.name for each in world.functions)
    function = np.zeros(count, int) if world.functions[0].next else random.integers(0, len(names), count)
    return simulation(world, workload(arrival, random.exponential(0.8, count), function, names))


@pytest.mark.parametrize("case", CASES)
def test_integral_is_the_sum(case: str) -> None:
    run = begun(case)
    assert run.advance()
    run.finish()
    integral, total = little(run)
    assert integral == pytest.approx(total, rel=1e-9)
    assert math.isclose(run.core.functions["inflight"].sum(), 0)


@pytest.mark.parametrize("interval", [0.5, 3.0])
def test_tasks_that_migrate(interval: float) -> None:
    random = np.random.default_rng(4)
    world = scenario(
        [{"memory": 200 * MIB, "parallelism": None}],
        HOSTS,
        platform={"dispatch": "interval", "hibernate": True, "wake": 0.7},
        network={"links": [{"site": "here", "delay": 0.02}]},
    )
    run = simulation(world, workload(np.sort(random.uniform(0, 400, 200)), random.exponential(3.0, 200)))
    tick = 0.0
    while not run.ended:
        tick += interval
        run.advance(tick)
        slots = run.tasks()
        run.assign(slots, random.integers(-1, 2, len(slots)).astype(np.int32))
    run.finish()
    assert run.core.world[0]["migrations"] > 10
    integral, total = little(run)
    assert integral == pytest.approx(total, rel=1e-9)


def test_queries_on_the_network() -> None:
    world = scenario(
        [],
        variants=[{"name": "v", "accuracy": 50, "batch": {"size": 4, "base": 0.05, "each": 0.02}}],
        workers=[{"site": "here", "variant": "v"}],
        applications=[{"name": "app", "deadline": [1, 1], "rate": [1, 1], "duration": [9, 9], "accuracy": 10}],
        platform={"dispatch": "cluster", "instances": "controlled"},
        network={"links": [{"source": "antenna", "site": "here", "delay": 0.01}]},
        workload={"source": "streams", "duration": 10},
    )
    arrival = np.sort(np.random.default_rng(5).uniform(0, 100, 2_000))
    run = simulation(world, one_stream(arrival.tolist(), size=1e4, bandwidth=1e6, access=0.003))
    assert run.advance()
    run.finish()
    integral, total = little(run)
    assert integral == pytest.approx(total, rel=1e-9)
