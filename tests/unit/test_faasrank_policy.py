"""FaaSRank's network and its 26 inputs: compiled, by numpy, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests import worlds

from trimtab.errors import TrimtabError
from trimtab.policies.network import count, forward
from trimtab.policies.place import faasrank, metrics
from trimtab.policies.place.decorator import place
from trimtab.policies.place.metrics import FEATURES, MEMORY, normalised
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.table import Workload

HOSTS = 4
SCALE = (384.0, 1.0, 128.0, 0.5)
SETTINGS = {"function_mean": list(SCALE[:2]), "function_deviation": list(SCALE[2:])}
SPIED = MEMORY + 8
"""Where the spy keeps, for each host, its metrics and its score."""
_SPIED, _WIDTH = SPIED, len(FEATURES) + 1


@place("spy", memory=SPIED + 64 * _WIDTH, samples=True)
def spy(request, hosts, memory, weights, world, site, pools):  # type: ignore[no-untyped-def]
    """Scores every host as the policy does, keeps metrics and scores of the last decision, spreads requests."""
    metrics.fill_spread(world, hosts, request, site, pools, memory)
    for index in range(world.hosts):
        metrics.fill_metrics(world, hosts[index], request, pools, memory)
        for metric in range(26):
            memory[_SPIED + index * _WIDTH + metric] = memory[metric]
        score = faasrank.score_of(world, hosts[index], request, pools, memory, weights)
        memory[_SPIED + index * _WIDTH + 26] = score
    return world.decisions % world.hosts if world.decisions % 3 else 0


SPY = replace(spy, weights=(0.0,) * (faasrank.WEIGHTS + len(SCALE)))
"""One policy for all tests, so that it is compiled once; each run has weights of its own."""


def some_weights(seed: int = 0) -> np.ndarray:
    return np.concatenate([np.random.default_rng(seed).normal(0.0, 0.3, faasrank.WEIGHTS), SCALE])


def world(hosts: int = HOSTS, **changes: Any) -> Scenario:
    functions = [
        {"memory": 256 * worlds.MIB, "init": 0.5, "create": 0.2, "network_bytes": 1e4, "disk_bytes": 3e3},
        {"memory": 512 * worlds.MIB, "init": 1.5, "create": 0.2},
    ]
    machines = [{"cores": 2.0, "memory": 1024 * worlds.MIB}] * hosts
    return worlds.scenario(functions, machines, **changes)


def requests(amount: int = 40) -> Workload:
    random = np.random.default_rng(5)
    return worlds.workload(
        np.sort(random.uniform(0.0, 20.0, amount)),
        random.uniform(0.2, 2.0, amount),
        random.integers(0, 2, amount),
        names=("f0", "f1"),
    )


def spied(scenario: Scenario, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    run = Simulation(scenario, requests(), 1, place=SPY)
    run.mind.weights[:] = weights
    run.advance(math.inf)
    hosts = len(run.core.hosts)
    rows = run.mind.memory[SPIED : SPIED + hosts * _WIDTH].reshape(hosts, _WIDTH)
    return rows[:, :26].copy(), rows[:, 26].copy()


def trained(weights: np.ndarray | None = None, **changes: Any) -> Trained:
    values = some_weights() if weights is None else weights
    given = {"decision": "place", "policy": "faasrank", "recipe": "paper", "features": FEATURES, "settings": SETTINGS}
    arrays = {"actor": values[: faasrank.WEIGHTS], "critic": np.zeros(faasrank.WEIGHTS)}
    return Trained(Description(**(given | changes)), arrays)


def test_there_are_26_metrics_and_2818_parameters() -> None:
    assert len(FEATURES) == len(set(FEATURES)) == 26
    assert faasrank.LAYERS == (26, 32, 16, 1)
    assert 2 * count(faasrank.LAYERS) == sum(shape[0] for shape in faasrank.SHAPES.values()) == 2818


def test_compiled_and_numpy_scores_agree() -> None:
    weights = some_weights()
    measured, scores = spied(world(), weights)
    assert np.ptp(scores) > 0.01
    np.testing.assert_allclose(faasrank.Scorer(weights)(measured), scores, atol=1e-5)
    exact = forward(weights[: faasrank.WEIGHTS], faasrank.LAYERS, normalised(measured, weights[faasrank.WEIGHTS :]))
    np.testing.assert_allclose(exact[:, 0], scores, atol=1e-5)


def test_metrics_are_what_the_host_shows() -> None:
    measured, _ = spied(world(), some_weights())
    columns = dict(zip(FEATURES, measured.T, strict=True))
    np.testing.assert_allclose(columns["cpu_user"] + columns["cpu_idle"], 2.0)
    assert columns["inflight_invocations"].sum() > 0
    assert np.all(columns["memory_free"] <= 1024)
    assert np.ptp(columns["requested_memory"]) == np.ptp(columns["init_time"]) == 0.0
    assert columns["init_time"][0] in (0.5, 1.5)
    unknowable = ("cpu_steal", "cpu_nice", "cpu_kernel", "cpu_iowait", "cpu_ctx_switches", "memory_cached")
    for name in unknowable:
        assert not columns[name].any()


def test_warm_infrastructures_are_the_requested_functions_or_all() -> None:
    # decisions of the spy do not depend on what it sees, so both runs are in the same state
    column = FEATURES.index("warm_infrastructures")
    own, _ = spied(world(), some_weights())
    every, _ = spied(world(platform={"warm_counts": "all"}), some_weights())
    assert np.all(own[:, column] <= every[:, column])
    assert own[:, column].sum() < every[:, column].sum()
    np.testing.assert_array_equal(np.delete(own, column, axis=1), np.delete(every, column, axis=1))


def test_server_metrics_are_standardised_over_servers_and_function_metrics_over_functions() -> None:
    random = np.random.default_rng(2)
    measured = random.uniform(0.0, 100.0, (7, 26))
    measured[:, 3] = 2.0**31 + 0.1  # alike everywhere
    measured[:, 24:] = (512.0, 0.5)
    inputs = normalised(measured, np.array(SCALE))
    np.testing.assert_allclose(inputs[:, :24].mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.delete(inputs[:, :24], 3, axis=1).std(axis=0), 1.0, atol=1e-6)
    assert not inputs[:, 3].any()
    np.testing.assert_allclose(inputs[:, 24:], [[1.0, -1.0]] * 7)


def test_permuted_servers_have_permuted_scores() -> None:
    random = np.random.default_rng(3)
    scorer, measured = faasrank.Scorer(some_weights()), random.uniform(0.0, 10.0, (10, 26))
    order = random.permutation(10)
    np.testing.assert_allclose(scorer(measured)[order], scorer(measured[order]), atol=1e-5)


@pytest.mark.parametrize("hosts", [5, 10, 50])
def test_the_same_weights_serve_any_number_of_servers(hosts: int) -> None:
    policy = faasrank.build(trained(), {})
    run = Simulation(world(hosts), requests(), 1, place=policy)
    outcome = worlds.finished(run)
    assert np.all(np.isfinite(outcome.completion))
    assert len(np.unique(outcome.host)) > 1


def test_the_highest_score_wins() -> None:
    weights = some_weights()
    run = Simulation(world(), requests(), 1, place=faasrank.build(trained(weights), {}))
    asked = Simulation(world(), requests(), 1, place=SPY)
    asked.mind.weights[:] = weights
    first = float(requests().arrival[0])
    run.advance(first + 1e-9)
    asked.advance(first + 1e-9)
    scores = asked.mind.memory[SPIED + 26 : SPIED + HOSTS * _WIDTH : _WIDTH]
    assert run.core.results["host"][0] == int(np.argmax(scores))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_score_that_is_not_a_number_ends_the_run(bad: float) -> None:
    weights = some_weights()
    weights[-4] = bad  # of an input: the fast tanh would turn it into a number
    run = Simulation(world(), requests(), 1, place=replace(faasrank.policy, weights=tuple(weights)))
    with pytest.raises(TrimtabError, match="policy 'faasrank' returned NaN for candidate 0, must be a number"):
        run.advance(math.inf)


def test_a_feature_that_does_not_fit_is_named() -> None:
    with pytest.raises(TrimtabError, match=r"feature = 'cpu_usr'.*did you mean 'cpu_user'"):
        faasrank.build(trained(features=("cpu_usr", *FEATURES[1:])), {})
    with pytest.raises(TrimtabError, match="'init_time' is missing"):
        faasrank.build(trained(features=FEATURES[:-1]), {})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"settings.function_mean = None, must be 2 numbers"),
        (SETTINGS | {"function_mean": ["a", 1.0]}, r"settings.function_mean = \['a', 1.0\], must be 2 numbers"),
        (SETTINGS | {"function_deviation": [0.0, 1.0]}, r"settings.function_deviation = \[0.0, 1.0\], must be above 0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(TrimtabError, match=message):
        faasrank.build(trained(settings=settings), {})


def test_parameters_are_refused() -> None:
    with pytest.raises(TrimtabError, match="'faasrank' has no parameters, got: speed"):
        faasrank.build(trained(), {"speed": 1})
