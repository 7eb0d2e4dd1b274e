"""Streams of queries: load, spacing, requirements, and what a query carries."""

from __future__ import annotations

import numpy as np
import pytest

from trimtab.scenario.load import load_scenario
from trimtab.workload.build import build_workload
from trimtab.workload.table import Workload


@pytest.fixture(scope="module")
def workload() -> Workload:
    return build_workload(load_scenario("aset-full-edge"), 1)


@pytest.mark.parametrize(("rate", "queries"), [(20, 321), (60, 963), (100, 1605)])
def test_queries_a_second(rate: int, queries: int) -> None:
    # twelve applications, mean of rate x length (cut at 110 s): 11,557.5 / 12 = 963 queries a stream,
    # and 60 streams a minute make 963 queries a second
    scenario = load_scenario("aset-full-edge", [f"workload.rate={rate}"])
    measured = [np.sum(build_workload(scenario, seed).arrival >= 120) / 600 for seed in range(1, 11)]
    spread = np.std(measured, ddof=1) / np.sqrt(10)
    assert np.mean(measured) == pytest.approx(queries, abs=4 * spread)


def test_queries_of_a_stream_are_evenly_spaced_within_it(workload: Workload) -> None:
    streams = workload.streams
    assert streams is not None
    for index in (0, 10, 100):
        times = workload.arrival[workload.stream == index]
        assert np.diff(times) == pytest.approx(1 / streams.rate[index])
        assert streams.arrival[index] <= times[0] <= streams.arrival[index] + 1 / streams.rate[index]
        assert times[-1] < streams.arrival[index] + streams.duration[index]
        expected = streams.duration[index] * streams.rate[index]
        assert abs(len(times) - expected) <= 1


def test_requirements_are_those_of_the_application(workload: Workload) -> None:
    scenario, streams = load_scenario("aset-full-edge"), workload.streams
    assert streams is not None
    assert workload.functions == tuple(application.name for application in scenario.applications)
    assert workload.tasks == ("detection", "face")
    for index, application in enumerate(scenario.applications):
        mine = streams.application == index
        assert np.all(streams.accuracy[mine] == application.accuracy)
        assert application.deadline[0] <= streams.deadline[mine].min()
        assert streams.deadline[mine].max() <= application.deadline[1]
        assert streams.duration[mine].max() <= 110
        assert {workload.tasks[task] for task in streams.task[mine]} == {application.task}
    assert np.array_equal(workload.function, streams.application[workload.stream])


def test_network_draws(workload: Workload) -> None:
    assert len(workload.noise) == 3 * len(workload)
    assert workload.noise.mean() == pytest.approx(0, abs=0.005)
    assert workload.noise.std() == pytest.approx(1, abs=0.005)
    streams = workload.streams
    assert streams is not None
    # 4 ms on average, 1 ms deviation, about 720 streams
    assert streams.access.mean() == pytest.approx(0.004, abs=4 * 0.001 / np.sqrt(700))
    assert streams.access.min() >= 0


def test_seeds() -> None:
    scenario = load_scenario("joint-edge")
    first, again, other = (build_workload(scenario, seed) for seed in (1, 1, 2))
    assert first.arrival.tobytes() == again.arrival.tobytes()
    assert first.noise.tobytes() == again.noise.tobytes()
    assert first.arrival[:20].tobytes() != other.arrival[:20].tobytes()


def test_every_antenna_has_its_own_clients() -> None:
    workload = build_workload(load_scenario("aset-city"), 1)
    streams = workload.streams
    assert streams is not None
    # 15 a minute for 12 minutes: 180 each, standard deviation 13.4
    assert np.bincount(streams.source) == pytest.approx([180] * 4, abs=4 * 13.4)


def test_steps_change_the_rate() -> None:
    streams = build_workload(load_scenario("aset-full-edge-dynamic"), 1).streams
    assert streams is not None
    per_minute = np.histogram(streams.arrival, [0, 270, 420, 570, 720])[0] / [4.5, 2.5, 2.5, 2.5]
    # Poisson: standard deviation of a rate of 100 over 2.5 minutes is 6.3
    assert per_minute == pytest.approx([20, 60, 100, 60], abs=26)
    assert per_minute[2] > per_minute[1] > per_minute[0]


def test_work_of_a_query_is_a_factor_with_mean_one() -> None:
    workload = build_workload(load_scenario("joint-edge"), 1)
    assert workload.work.mean() == pytest.approx(1, abs=0.005)
    assert workload.work.std() == pytest.approx(0.15, abs=0.005)


@pytest.mark.parametrize(
    ("name", "share"), [("aset-full-edge", 0.90), ("aset-co-dc-cloud", 0.78), ("aset-dc-cloud", 0.44)]
)
def test_share_of_queries_that_some_worker_could_serve(name: str, share: float) -> None:
    """ASET's constraints (1), (3) and (4) with every worker idle: the ceiling of any policy."""
    scenario = load_scenario(name)
    variants = {variant.name: variant for variant in scenario.variants}
    links = {link.site: link for link in scenario.network.links}
    workload = build_workload(scenario, 1)
    streams = workload.streams
    assert streams is not None
    served = np.zeros(len(streams.arrival), bool)
    for worker in scenario.workers:
        variant, link = variants[worker.variant], links[worker.site]
        delay = variant.batch.base + variant.batch.each * variant.batch.size
        network = 2 * (streams.access + link.delay + 2 * link.deviation) + streams.size / streams.bandwidth
        right = streams.task == workload.tasks.index(variant.task)
        served |= right & (variant.accuracy >= streams.accuracy) & (network + delay <= streams.deadline)
    assert served[workload.stream].mean() == pytest.approx(share, abs=0.04)
    assert served[streams.application == workload.functions.index("face")].all()
