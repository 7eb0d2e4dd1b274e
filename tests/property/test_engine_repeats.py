"""The same world gives the same bytes: again, in small steps, on two threads; and the same work to every policy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.strategies import PLACE, clusters
from tests.worlds import MIB, finished, outcome, scenario, simulation, workload

from trimtab import place
from trimtab.control.experiment import Experiment, entrants
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import COMPLETED, Outcome
from trimtab.sim.simulation import Simulation
from trimtab.workload.table import Workload

World = tuple[Scenario, Workload]


def fingerprint(run: Simulation) -> bytes:
    """Every table of a run that has ended, as bytes."""
    core = run.core
    return b"".join(
        table.tobytes()
        for table in (core.world, core.hosts, core.functions, core.pools, core.results, run.columns.series)
    )


def same(first: Outcome, second: Outcome) -> None:
    """Two outcomes agree to the last bit."""
    for name in ("completion", "start", "host", "worker", "cold", "late", "status", "host_utilisation"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name
    assert first.meters == second.meters
    assert {key: column.tobytes() for key, column in first.series.items()} == {
        key: column.tobytes() for key, column in second.series.items()
    }


@given(clusters(), st.sampled_from(PLACE), st.integers(0, 3))
@settings(max_examples=30)
def test_again_gives_the_same_bytes(world: World, policy: str, seed: int) -> None:
    first, second = simulation(*world, seed, place=policy), simulation(*world, seed, place=policy)
    finished(first)
    finished(second)
    assert fingerprint(first) == fingerprint(second)


@given(clusters(), st.sampled_from(PLACE), st.sampled_from([0.1, 0.25, 1.0, math.pi]))
@settings(max_examples=30)
def test_small_steps_give_the_same_bytes(world: World, policy: str, stride: float) -> None:
    at_once, by_steps = simulation(*world, place=policy), simulation(*world, place=policy)
    done = finished(at_once)
    number = 0
    while not by_steps.ended and number * stride < world[1].duration + 30.0:
        number += 1
        by_steps.advance(number * stride)
    again = finished(by_steps)
    if at_once.ended:
        same(done, again)
    else:  # requests wait for ever: when a run is given up is then up to who drives it
        assert at_once.core.results.tobytes() == by_steps.core.results.tobytes()


EXPERIMENT = {
    "functions": [{"name": "f0", "create": 0.2, "init": 0.1}, {"name": "f1", "memory": 512 * MIB, "create": 0.4}],
    "hosts": [{"cores": 2.0}, {"cores": 1.0, "speed": 1.5}],
    "workload": {"source": "poisson", "rate": 2.0, "duration": 200.0, "warm_up": 10.0},
    "faults": [{"kind": "host-down", "rate": 0.02, "lasts": 5.0}, {"kind": "instance-crash", "rate": 0.05}],
}


@pytest.mark.parametrize("kind", ["place", "scale", "assign"])
def test_two_threads_give_what_one_gives(kind: str) -> None:
    platform = {
        "place": {},
        "scale": {"dispatch": "cluster", "instances": "controlled"},
        "assign": {"dispatch": "interval", "hibernate": True, "wake": 2.0},
    }[kind]
    names = {
        "place": ["random", "power-of-two", "least-connections"],
        "scale": ["hpa", "kpa", "square-root"],
        "assign": ["random", "best-fit", "least-loaded"],
    }[kind]
    world = scenario(**EXPERIMENT, decision=kind, platform=platform)  # type: ignore[arg-type]
    runs = [list(Experiment(world, entrants(world, names), (1, 2), jobs)) for jobs in (1, 2)]
    for (entrant, first), (other, second) in zip(*runs, strict=True):
        assert (entrant.label, first.seed) == (other.label, second.seed)
        same(first, second)


def test_every_policy_does_the_same_work() -> None:
    # without cold starts all policies burn the same core-seconds: the sum of the work, at any speed
    random = np.random.default_rng(2)
    world = scenario([{}, {"memory": 128 * MIB}], [{"cores": 2.0}] * 3)
    requests = workload(
        np.sort(random.uniform(0, 100, 400)), random.exponential(0.5, 400), random.integers(0, 2, 400), ("f0", "f1")
    )
    for policy in PLACE:
        done = outcome(world, requests, place=policy)
        assert np.all(done.status == COMPLETED)
        assert done.meters["busy_core_seconds"] == pytest.approx(float(requests.work.sum()), rel=1e-9)


@place("kept")
def kept(host):  # type: ignore[no-untyped-def]
    """A score of the host alone: the engine computes it again only where something changed."""
    return -(host.inflight + 0.5 * host.queued + 0.1 * host.idle + 0.01 * host.running + host.memory_used * 1e-12)


@place("computed")
def computed(request, host):  # type: ignore[no-untyped-def]
    """The same score, computed anew for every host at every decision."""
    score = -(host.inflight + 0.5 * host.queued + 0.1 * host.idle + 0.01 * host.running + host.memory_used * 1e-12)
    return score + 0.0 * request.memory


@given(clusters())
@settings(max_examples=30)
def test_scores_that_are_kept_are_never_out_of_date(world: World) -> None:
    first, second = (Simulation(*world, 1, place=policy) for policy in (kept, computed))
    same(finished(first), finished(second))
