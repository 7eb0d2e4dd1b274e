"""Generated workloads: rates, burstiness, determinism, and what a seed may change."""

from __future__ import annotations

import numpy as np
import pytest

from trimtab.errors import TrimtabError
from trimtab.scenario.load import load_scenario, parse_scenario, preset_names
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload
from trimtab.workload.daily import daily_rate
from trimtab.workload.describe import describe, dispersion, function_dispersion
from trimtab.workload.random_streams import stream
from trimtab.workload.table import Workload

HOST = "hosts: [{name: host, cores: 4, memory: 4 GiB}]"


def scenario(workload: str, functions: str = "[{name: a}, {name: b}]") -> Scenario:
    return parse_scenario(f"{{name: test, {HOST}, functions: {functions}, workload: {workload}}}")


def build(workload: str, functions: str = "[{name: a}, {name: b}]", seed: int = 1) -> Workload:
    return build_workload(scenario(workload, functions), seed)


def counts(workload: Workload, length: float) -> np.ndarray:
    bins = int(workload.duration / length)
    return np.histogram(workload.arrival, bins, (0, bins * length))[0]


EVERY_GENERATOR = [
    "{source: poisson, rate: 20, duration: 300}",
    "{source: poisson, rate: 20, requests: 6000}",
    "{source: bursts, rate: 20, duration: 300}",
    "{source: daily, peak_rate: 20, duration: 300, cycle: 300}",
    "{source: azure-like, rate: 20, duration: 300}",
    "{source: azure-like, rate: 20, duration: 300, spread: even}",
    "{source: azure-like, rate: 20, duration: 290, spread: clustered}",
    "{source: faasrank, calls: 500, duration: 59.5 s}",
    "{source: tasks, rate: 5, duration: 1000}",
]


@pytest.mark.parametrize("text", EVERY_GENERATOR)
def test_columns_are_in_order_and_within_the_run(text: str) -> None:
    workload = build(text)
    assert workload.functions == ("a", "b")
    assert np.all(np.diff(workload.arrival) >= 0)
    assert workload.arrival[0] >= 0
    assert workload.arrival[-1] <= workload.duration
    assert set(np.unique(workload.function)) <= {0, 1}
    assert len(workload.work) == len(workload.function) == len(workload)
    assert np.all(workload.work >= 0)
    assert (workload.arrival.dtype, workload.function.dtype) == (np.float64, np.int32)
    assert len(workload.off_cpu) == len(workload.noise) == len(workload.stream) == 0


@pytest.mark.parametrize("text", EVERY_GENERATOR)
def test_same_seed_same_bytes_other_seed_other_arrivals(text: str) -> None:
    first, again, other = build(text), build(text), build(text, seed=2)
    assert first.arrival.tobytes() == again.arrival.tobytes()
    assert first.work.tobytes() == again.work.tobytes()
    assert first.function.tobytes() == again.function.tobytes()
    assert first.arrival[:50].tobytes() != other.arrival[:50].tobytes()
    assert first.work[:50].tobytes() != other.work[:50].tobytes()


def test_streams_of_random_numbers_are_apart() -> None:
    draws = [stream(1, purpose).random() for purpose in ("arrivals", "work", "network", "faults", "policy")]
    draws += [stream(2, "arrivals").random(), stream(1, "arrivals", 1).random()]
    assert len(set(draws)) == 7


@pytest.mark.parametrize(
    "text",
    [
        "{source: poisson, rate: 50, duration: 2000}",
        "{source: poisson, rate: 50, requests: 100000}",
        "{source: tasks, rate: 500, duration: 2000}",  # 500 in 10 s
    ],
)
def test_poisson_rate_and_dispersion(text: str) -> None:
    workload = build(text)
    # 100,000 expected with standard deviation 316: four of them
    assert len(workload) / workload.duration == pytest.approx(50, rel=4 * 316 / 100_000)
    # variance over mean of 2,000 counts has standard deviation sqrt(2/2000) = 0.032
    assert dispersion(counts(workload, 1.0).astype(float)) == pytest.approx(1, abs=4 * 0.032)


def test_shares_and_chains() -> None:
    functions = "[{name: a, next: c}, {name: b}, {name: c}]"
    workload = build("{source: poisson, rate: 100, duration: 300, shares: {a: 3}}", functions)
    share = np.bincount(workload.function, minlength=3) / len(workload)
    # c is only called by a, so no request enters there
    assert share == pytest.approx([0.75, 0.25, 0.0], abs=0.012)


def test_bursts_have_the_mean_rate_and_are_bursty() -> None:
    text = "{source: bursts, rate: 20, duration: 40000, burst_factor: 10, burst: 10, calm: 90}"
    workload = build(text, "[{name: a}]")
    assert len(workload) / workload.duration == pytest.approx(20, rel=0.06)
    # calm 20/1.9 = 10.5/s, burst 105/s: counts of 10 s vary with the phase far beyond Poisson
    assert dispersion(counts(workload, 10.0).astype(float)) > 20
    fast = np.quantile(counts(workload, 1.0), 0.97)
    assert fast == pytest.approx(105, rel=0.15)


def test_daily_load_peaks_at_the_given_erlang() -> None:
    loaded = load_scenario("autoscale-fibonacci")
    workload = build_workload(loaded, 1)
    rate = daily_rate(loaded.workload)  # type: ignore[arg-type]
    assert rate.max() == 1.0
    assert 0.05 < rate.min() < 0.25
    # 25 Erlang / 0.1 s = 250 a second where the rate is 1
    assert len(workload) == pytest.approx(250 * rate.sum(), rel=0.01)
    top = rate > 0.9
    assert counts(workload, 1.0)[top].mean() == pytest.approx(250 * rate[top].mean(), rel=0.03)


def test_a_seed_leaves_the_rates_of_a_daily_load() -> None:
    loaded = load_scenario("autoscale-fibonacci")
    one, two = (counts(build_workload(loaded, seed), 60.0) for seed in (1, 2))
    # two Poisson draws around the same rate: the difference has variance one + two
    assert ((one - two) ** 2 / (one + two)).mean() == pytest.approx(1, abs=0.5)
    other = counts(build_workload(load_scenario("autoscale-fibonacci", ["workload.draw=2"]), 1), 60.0)
    assert ((one - other) ** 2 / (one + other)).mean() > 10


AZURE = "{source: azure-like, rate: 28.46, duration: 8 h, functions: 259, population: %d}"


@pytest.fixture(scope="module")
def azure_like() -> Workload:
    return build_workload(parse_scenario(f"{{name: t, {HOST}, workload: {AZURE % 1}}}"), 1)


def test_azure_like_matches_the_published_sample(azure_like: Workload) -> None:
    figures = describe(azure_like)
    assert figures["requests"] == pytest.approx(819_690, rel=0.02)
    assert figures["share_of_functions_under_1_per_minute"] == pytest.approx(0.82, abs=0.03)
    assert figures["busiest_function_share"] == pytest.approx(1 / 3, abs=0.08)
    assert 4 < figures["busy_cores"] < 60  # 16.4 in the sample; the tail of durations decides
    assert np.all(azure_like.memory >= 128 * 2**20)


def test_azure_like_burstiness_by_trigger(azure_like: Workload) -> None:
    by_trigger = describe(azure_like)["dispersion_by_trigger"]
    assert by_trigger["timer"]["median"] == pytest.approx(0.85, abs=0.1)
    assert by_trigger["timer"]["max"] <= 1.1
    assert by_trigger["queue"]["median"] == pytest.approx(3.5, abs=1.5)
    assert 8 < by_trigger["queue"]["max"] < 100


def test_a_seed_leaves_the_rates_of_an_azure_like_load() -> None:
    text = f"{{name: t, {HOST}, workload: {AZURE % 3}}}"
    one, two = (build_workload(parse_scenario(text), seed) for seed in (1, 2))
    first, second = (np.bincount(each.function, minlength=259) for each in (one, two))
    busy = first > 500
    assert second[busy] == pytest.approx(first[busy], rel=0.35)
    other = build_workload(parse_scenario(text.replace("population: 3", "population: 4")), 1)
    assert np.corrcoef(first, np.bincount(other.function, minlength=259))[0, 1] < 0.5


@pytest.mark.parametrize("name", [name for name in preset_names() if name.startswith("faasrank")])
def test_faasrank_has_exactly_the_calls_and_the_cpu_time_of_table_three(name: str) -> None:
    table = {
        "canada": (4368.71, 292, 60), "aws": (6196.89, 408, 60), "m1": (2640.94, 209, 37),
        "m2": (2656.32, 178, 36), "m3": (2656.69, 201, 44), "m4": (2751.87, 201, 35),
        "m5": (3347.33, 226, 44), "m6": (3492.49, 253, 53), "m7": (3738.29, 256, 52),
        "m8": (3846.15, 276, 48), "m9": (4026.24, 318, 54), "m10": (4659.86, 295, 59),
    }  # fmt: skip
    cpu, calls, length = table[name.removeprefix("faasrank-")]
    loaded = load_scenario(name)
    workloads = [build_workload(loaded, seed) for seed in range(1, 41)]
    assert {len(workload) for workload in workloads} == {calls}
    assert {workload.duration for workload in workloads} == {length}
    total = np.array([workload.work.sum() for workload in workloads])
    assert total.mean() == pytest.approx(cpu, abs=4 * total.std() / np.sqrt(len(total)) + 0.01 * cpu)


def test_work_has_mean_and_deviation_of_its_distribution() -> None:
    functions = (
        "[{name: e, work: 2}, {name: l, work: 3, distribution: lognormal, work_deviation: 0.5}, "
        "{name: u, work: 1, distribution: uniform, work_deviation: 0.3}, "
        "{name: c, work: 0.7, distribution: constant}]"
    )
    workload = build("{source: poisson, rate: 1000, requests: 400000}", functions)
    for index, (mean, deviation) in enumerate([(2, 1), (3, 0.5), (1, 0.3), (0.7, 0)]):
        work = workload.work[workload.function == index]
        assert work.mean() == pytest.approx(mean, rel=0.015)
        assert work.std() / work.mean() == pytest.approx(deviation, abs=0.02)
    assert workload.work[workload.function == 2].min() >= 1 - 0.3 * 3**0.5


def test_time_off_the_cpu_is_a_column_only_where_a_function_has_some() -> None:
    workload = build("{source: poisson, rate: 10, duration: 60}", "[{name: a, off_cpu: 60 ms}, {name: b}]")
    assert np.array_equal(workload.off_cpu, np.where(workload.function == 0, 0.06, 0.0))


def test_function_dispersion_of_a_clock_and_of_two_calls_in_one_minute() -> None:
    # function 0 calls once in each of 4 minutes: variance 0; function 1 twice in the first: counts 2,0,0,0
    # have mean 0.5 and variance (2.25 + 3 · 0.25)/4 = 0.75, so 1.5
    workload = Workload(
        functions=("clock", "pair"),
        arrival=np.array([1.0, 5.0, 6.0, 61.0, 121.0, 181.0]),
        function=np.array([0, 1, 1, 0, 0, 0], np.int32),
        work=np.ones(6),
        duration=240.0,
    )
    assert function_dispersion(workload, 4) == pytest.approx([0.0, 1.5])
    figures = describe(workload)
    assert figures["peak_minute_rps"] == 3 / 60
    assert figures["busy_cores"] == 6 / 240
    assert figures["busiest_function"] == "clock"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{source: poisson, rate: 0, duration: 5}", "has no requests"),
        ("{source: poisson, rate: 0, requests: 5}", "workload.rate = 0.0, must be above 0"),
        ("{source: poisson, rate: 1e12, duration: 5}", "must be at most 200,000,000"),
        ("{source: poisson, rate: 1, duration: 5, shares: {c: 1}}", "workload.shares = 'c', must be"),
        ("{source: poisson, rate: 1, duration: 5, shares: {a: 0, b: 0}}", "all are 0"),
        ("{source: bursts, rate: 1e12, duration: 5}", "more than 200,000,000"),
        ("{source: daily, peak_rate: 1e12, duration: 5}", "must be at most 200,000,000"),
        ("{source: azure-like, rate: 1e12, duration: 5}", "more than 200,000,000"),
        ("{source: faasrank, calls: 5, duration: 0.5}", "at least 1 s"),
        ("{source: tasks, rate: 5, duration: 100, steps: [{at: 50, rate: 1}, {at: 2, rate: 1}]}", "and rise"),
    ],
)  # fmt: skip
def test_workloads_that_cannot_be(text: str, line: str) -> None:
    with pytest.raises(TrimtabError, match=line):
        build(text)


def test_negative_seeds_are_refused() -> None:
    with pytest.raises(TrimtabError, match="seed = -1, must be 0 or more"):
        build("{source: poisson, rate: 1, duration: 5}", seed=-1)
