"""The learned router: its features by worked example, its score, and what it does to late queries."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from tests.worlds import finished, scenario, workload

from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.route import outlook, rank
from trimtab.policies.route.rank_features import FEATURES, WIDTH
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import COMPLETED, FAILED
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload
from trimtab.workload.table import Streams, Workload

SHORT = ["workload.duration=90", "workload.warm_up=30"]


def edge() -> Scenario:
    """Two workers of one variant, near and far; a query alone takes 40 ms, so each takes 25 a second."""
    service = {"size": 1, "base": 0.01, "each": 0.03}
    return scenario(
        [],
        [{"site": "near"}, {"site": "far"}],
        decision="route",
        variants=[{"name": "v", "accuracy": 50, "batch": service}],
        workers=[{"site": "near", "variant": "v"}, {"site": "far", "variant": "v"}],
        applications=[{"name": "app", "deadline": [1, 1], "rate": [1, 1], "duration": [9, 9], "accuracy": 10}],
        platform={"dispatch": "cluster", "instances": "controlled"},
        network={
            "links": [
                {"source": "antenna", "site": "near", "delay": 0.005, "deviation": 0.001, "bandwidth": 1e12},
                {"source": "antenna", "site": "far", "delay": 0.025, "deviation": 0.001, "bandwidth": 1e12},
            ]
        },
        workload={"source": "streams", "duration": 10},
    )


def streams(arrival: list[float], each: int = 1, **changes: Any) -> Workload:
    """Streams of ``each`` queries at 5 a second that must be answered within 100 ms; they live for 50 s."""
    count = len(arrival)
    given = {"duration": 50.0, "rate": 5.0, "deadline": 0.1, "accuracy": 40.0, "size": 0.0, "bandwidth": 1e9}
    columns = {name: np.full(count, value) for name, value in (given | {"access": 0.004} | changes).items()}
    zeros = np.zeros(count, np.int32)
    table = Streams(arrival=np.array(arrival), application=zeros, source=zeros, task=zeros, **columns)
    times = np.concatenate([start + np.arange(each) / 5.0 for start in arrival])
    owner = np.repeat(np.arange(count, dtype=np.int32), each)
    order = np.argsort(times, kind="stable")
    return workload(
        times[order], 1.0, names=("app",), stream=owner[order], streams=table, tasks=("detection",),
        noise=np.zeros(3 * len(times)), duration=float(times.max()),
    )  # fmt: skip


def rows(run: Simulation) -> np.ndarray:
    """What the policy remembers, one row a worker."""
    count = len(run.core.functions)
    return run.route_mind.memory[outlook.FIRST : outlook.FIRST + WIDTH * count].reshape(count, WIDTH)


def seen(run: Simulation, worker: int) -> dict[str, float]:
    return dict(zip(FEATURES, rows(run)[worker, outlook.STATE :].tolist(), strict=True))


def test_features_of_a_first_stream() -> None:
    # network to the near worker: 2(4 + 5 + 2·1) = 22 ms, slack 100 − 22 − 40 = 38 ms of 40: tightness 0.05.
    # far: 2(4 + 25 + 2) = 62 ms, late by 2 ms, so it does not suit
    run = Simulation(edge(), streams([0.0]), 1, route=rank.untrained())
    run.advance()
    found = seen(run, 0)
    assert found == pytest.approx(
        {
            "load": 0.2,  # 5 of 25
            "overrun": 0.2 * math.exp(-2 * 0.8 * 0.038 / (0.2 * 0.04)),
            "success": 1.0,
            "tightness": 0.05,
            "late": 0.0,
            "demand": 0.2,
            "demand-load": 0.04,
            "tight-demand": 0.01,  # 5 · 0.05 · 40 ms
            "scarcity": 1.0,
            "accuracy-surplus": 0.1,
            "batch": 0.0,
            "distance": 0.07,
        },
        rel=1e-9,
        abs=1e-12,
    )
    assert rows(run)[1, outlook.DEMAND] == 0.0
    assert run.columns.streams["worker"].tolist() == [0]


def test_features_of_a_second_stream() -> None:
    # 2 s later: the first one holds 0.2 Erlangs of which 0.01 tight; its demand has faded to 5·exp(−2/80)
    run = Simulation(edge(), streams([0.0, 2.0], each=5), 1, route=rank.untrained())
    run.advance()
    found = seen(run, 0)
    demand = (5 * math.exp(-2 / 80) + 5) / 25
    assert found["load"] == pytest.approx(0.4)
    assert found["demand"] == pytest.approx(demand)
    assert found["demand-load"] == pytest.approx(0.4 * demand)
    assert found["tight-demand"] == pytest.approx(25 * demand * 0.05 * 0.04)
    # 5 answers in 2 s at a load of 5: half of it (the stream sent for 1 s), so it is busy for 0.2 / 2 of the time, and
    # of 0.01 Erlangs that cannot wait half are there
    assert found["success"] == pytest.approx((1 - 0.1 * 0.05) * (1 - 0.01 * 0.5))


def test_what_is_tight_leaves_with_its_streams() -> None:
    run = Simulation(edge(), streams([0.0, 1.0, 5.0], duration=3.0), 1, route=rank.untrained())
    run.advance(4.5)
    assert rows(run)[0, outlook.TIGHT] == pytest.approx(0.5)
    run.advance()
    assert rows(run)[0, outlook.TIGHT] == pytest.approx(0.25)  # the first two are over, the third has come


def test_the_compiled_score_is_the_rule_and_the_weighted_features() -> None:
    world = load_scenario("aset-full-edge", SHORT)
    weights = np.random.default_rng(3).standard_normal(rank.SIZE)
    policy = dataclasses.replace(rank.policy, weights=tuple(weights))
    run = Simulation(world, build_workload(world, 1), 1, route=policy)
    run.advance(70.0)
    table, workers = rows(run), run.core.functions
    last = int(run.core.world[0]["next_stream"]) - 1
    stream = run.columns.streams[last]
    judged = workers["feasible"] == 1
    load = table[:, outlook.STATE] - stream["rate"] / workers["capacity"]  # load over capacity when it was judged
    scores = -load + table[:, outlook.STATE :] @ weights
    assert judged.sum() > 3
    assert table[judged, outlook.SCORE] == pytest.approx(scores[judged], rel=1e-9, abs=1e-9)
    assert stream["worker"] == np.flatnonzero(judged)[np.argmax(scores[judged])]


def test_without_weights_it_is_the_rule() -> None:
    world = load_scenario("aset-full-edge", SHORT)
    requests = build_workload(world, 2)
    chosen = []
    for policy in (rank.untrained(), dataclasses.replace(registry.load("route", "relative-load"), drops_late=True)):
        run = Simulation(world, requests, 2, route=policy)
        run.advance()
        chosen.append((run.columns.streams["worker"].copy(), run.core.results.copy()))
    assert np.array_equal(chosen[0][0], chosen[1][0])
    assert np.array_equal(chosen[0][1]["status"], chosen[1][1]["status"])


def test_the_rule_decides_where_workers_do_not_fit_into_memory() -> None:
    world = load_scenario("aset-full-edge", SHORT)
    requests = build_workload(world, 2)
    small = dataclasses.replace(rank.policy, weights=(9.0,) * rank.SIZE, memory=WIDTH)
    runs = [Simulation(world, requests, 2, route=each) for each in (small, rank.untrained())]
    for run in runs:
        run.advance()
    assert np.array_equal(*(run.columns.streams["worker"] for run in runs))


def test_a_late_query_is_dropped_and_one_in_time_never() -> None:
    # one worker, 40 ms each; there and back 2(4 + 5) = 18 ms: three queries at once would be back after 58, 98 and
    # 138 ms of 100, so the third is dropped when its turn comes, and the next, 200 ms later, finds it free
    world = edge()
    requests = streams([0.0, 0.0, 0.0], each=2)
    done = finished(Simulation(world, requests, 1, route=rank.untrained()))
    assert done.status.tolist() == [COMPLETED, COMPLETED, FAILED, COMPLETED, COMPLETED, FAILED]
    assert (done.completion - done.arrival)[[0, 1]].tolist() == pytest.approx([0.058, 0.098])
    assert not done.late.any()
    kept = dataclasses.replace(rank.untrained(), drops_late=False)
    done = finished(Simulation(world, requests, 1, route=kept))
    assert done.status.tolist() == [COMPLETED] * 6
    assert done.late.tolist() == [False, False, True, False, False, True]


def test_a_busy_worker_drops_nothing_that_is_in_time() -> None:
    # four streams 50 ms apart keep the worker busy for 40 of every 50 ms, and none of their queries waits
    requests = streams([0.0, 0.05, 0.1, 0.15], each=40)
    done = finished(Simulation(edge(), requests, 1, route=rank.untrained()))
    assert done.status.tolist() == [COMPLETED] * 160
    assert not done.late.any()


def trained(**changes: Any) -> Trained:
    given: dict[str, Any] = {"features": FEATURES} | changes
    arrays = given.pop("arrays", {"weights": np.arange(float(rank.SIZE))})
    return Trained(Description(decision="route", policy="rank", recipe="best", **given), arrays, "folder")


def test_a_trained_policy_is_built() -> None:
    policy = registry.built(trained(), "route")
    assert policy.weights == tuple(range(rank.SIZE))
    assert policy.drops_late
    assert policy.compiled is rank.policy.compiled  # only the weights differ


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": ("loud", *FEATURES[1:])}, "folder: feature = 'loud', must be one of: load, "),
        ({"features": FEATURES[:-1]}, "folder: feature 'distance' is missing"),
        ({"arrays": {"weights": np.zeros(3)}}, r"folder: weights 'weights' have shape \(3,\), must be \(12,\)"),
        ({"arrays": {}}, "folder: weights lack 'weights'"),
    ],
)
def test_a_wrong_folder_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TrimtabError, match=message):
        registry.built(trained(**changes), "route")


def test_it_has_no_parameters() -> None:
    with pytest.raises(TrimtabError, match="policy 'rank' has no parameters, got: speed"):
        registry.built(trained(), "route", {"speed": 2})


def test_the_one_that_ships_is_found_by_its_name() -> None:
    assert "rank" in registry.names("route")
    policy = registry.load("route", "rank", scenario="aset-dc-cloud")
    assert len(policy.weights) == rank.SIZE
    assert policy.weights != rank.untrained().weights
    assert registry.describe("route", "rank").startswith("``rank``: learned")
