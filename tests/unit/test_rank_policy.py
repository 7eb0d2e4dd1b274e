"""``place/rank``: its features by worked example, its scores, its rule, its guard, its weights."""

from __future__ import annotations

import math
from dataclasses import replace

import numba
import numpy as np
import pytest
from tests.worlds import MIB, scenario, workload

from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.place import rank
from trimtab.policies.place.completion import tie_break
from trimtab.policies.place.rank_features import COUNT, FEATURES, VALUES, look, note_arrival
from trimtab.policies.place.rank_guard import FALLEN, FALLS
from trimtab.policies.trained import Description, Trained
from trimtab.policies.view import fill_by_request
from trimtab.scenario.load import load_scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

SPARE = 1000
"""A slot of the request table that these small runs leave free."""


@numba.njit
def looked(world_, active, slot, hosts, index, functions, pools, memory, room):
    world, host, request = world_[0], hosts[index], active[slot]
    fill_by_request(world, host, request, pools)
    look(world, host, request, functions, pools, active, memory, room)
    return tie_break(host)


@numba.njit
def arrived(memory, function, now):
    note_arrival(memory, function, now)


def asked(simulation, function, host=0):
    """Features of a host for a request of a function that would arrive now, and its tie-break."""
    core = simulation.core
    request, about = core.active[SPARE], core.functions[function]
    for name in ("work", "memory", "init", "create", "cap", "weight"):
        request[name] = about[name]
    request["function"] = function
    memory = simulation.mind.memory.copy()
    arrived(memory, function, simulation.now)
    tie = looked(
        core.world, core.active, SPARE, core.hosts, host, core.functions, core.pools, memory, simulation.mind.running
    )
    return dict(zip(FEATURES, memory[VALUES : VALUES + COUNT].tolist(), strict=True)), tie


def begun(functions, hosts, requests, until, **changes):
    world = scenario(functions, hosts, **changes)
    simulation = Simulation(world, requests, 1, place=rank.untrained())
    simulation.advance(until)
    return simulation


COLD = {"create": 0.5, "init": 0.3, "work": 2.0, "parallelism": None, "distribution": "constant"}
PLAIN = {"work": 4.0, "parallelism": None, "distribution": "constant"}


def test_an_empty_host_starts_a_container_on_one_core_and_works_on_all():
    later = workload([9.0], 2.0, duration=10.0)
    features, _ = asked(begun([COLD], [{"cores": 2.0}], later, 1.0), 0)
    assert features["own"] == pytest.approx(0.5 + 0.3 + 2.0 / 2)
    assert features["cold"] == pytest.approx(0.8)
    assert features["others"] == features["backlog"] == features["evicted"] == 0.0


def test_a_container_that_was_left_idle_is_used_again():
    simulation = begun([COLD], [{"cores": 2.0}], workload([0.0, 9.0], 2.0, duration=10.0), 2.5)
    features, _ = asked(simulation, 0)
    assert features["own"] == pytest.approx(1.0)
    assert features["cold"] == 0.0


def test_two_requests_share_the_cores_and_delay_each_other():
    simulation = begun([PLAIN], [{"cores": 2.0}], workload([0.0, 9.0], 4.0, duration=10.0), 1.0)
    features, _ = asked(simulation, 0)
    # 2 of 4 core-seconds are left; at one core each the first ends 1 s later, after 2 s, the new one 1 s after it
    assert features["others"] == pytest.approx(1.0)
    assert features["own"] == pytest.approx(3.0)
    assert features["backlog"] == pytest.approx(1.0)


def test_who_waits_for_memory_takes_over_the_container_of_who_ends():
    small = {"cores": 1.0, "memory": 256 * MIB}
    function = {"create": 0.5, "init": 0.5, "work": 2.0, "distribution": "constant"}
    features, _ = asked(begun([function], [small], workload([0.0, 9.0], 2.0, duration=10.0), 1.0), 0)
    assert features["own"] == pytest.approx(2.0 + 2.0)  # no second cold start
    assert features["blocked"] == features["own"]


def test_one_container_is_created_at_a_time_where_creation_is_serial():
    requests = workload([0.0, 9.0], 2.0, duration=10.0)
    for serial, own in ((True, 0.3 + 0.5 + 0.3 + 2.0), (False, 0.5 + 0.3 + 2.0)):
        capped = COLD | {"parallelism": 1.0}
        simulation = begun([capped], [{"cores": 8.0}], requests, 0.2, platform={"serial_creation": serial})
        assert asked(simulation, 0)[0]["own"] == pytest.approx(own)


def test_the_least_recently_used_container_would_be_evicted():
    functions = [{"create": cold, "work": 0.1, "distribution": "constant"} for cold in (0.2, 0.7, 0.4)]
    requests = workload([0.0, 2.0, 9.0], 0.1, [0, 1, 2], ("f0", "f1", "f2"), duration=10.0)
    simulation = begun(functions, [{"memory": 512 * MIB}], requests, 5.0)
    features, tie = asked(simulation, 2)
    assert features["evicted"] == pytest.approx(0.2)
    assert 0.0 < features["reuse"] < features["evicted"]
    assert tie >= 1.0


def test_features_are_seconds():
    """All times doubled, all features double: the choice stays the same."""
    found = []
    for factor in (1.0, 2.0):
        function = COLD | {name: factor * COLD[name] for name in ("create", "init", "work")}
        times = [factor * time for time in (0.0, 0.1, 0.4, 9.0)]
        requests = workload(times, [factor * 2.0] * 4, duration=factor * 10.0)
        simulation = begun([function, function], [{"cores": 2.0}], requests, factor * 1.3)
        found.append(np.array(list(asked(simulation, 1)[0].values())))
    assert np.allclose(2.0 * found[0], found[1], rtol=1e-6)


def placements(policy, name="faasrank-m2", seed=3, **overrides):
    world = load_scenario(name, tuple(f"{key}={value}" for key, value in overrides.items()))
    simulation = Simulation(world, build_workload(world, seed), seed, place=policy)
    simulation.advance()
    return simulation


@pytest.mark.parametrize("model", ["P", "G"])
def test_without_weights_it_is_drain_ahead(model):
    ours = placements(rank.untrained(), model=model)
    rule = placements(registry.load("place", "drain-ahead"), model=model)
    assert np.array_equal(ours.core.results, rule.core.results)


def test_the_choice_is_the_highest_score_as_numpy_computes_it():
    weights = np.random.default_rng(5).normal(0.0, 0.3, COUNT)
    world = load_scenario("faasrank-m2")
    requests = build_workload(world, 4)
    simulation = Simulation(world, requests, 4, place=replace(rank.policy, weights=(*weights, math.inf, 0.0, 1.0)))
    for number in range(40, 160, 10):
        moment = float(requests.arrival[number])
        simulation.advance(np.nextafter(moment, 0.0))
        simulation.core.world[0]["now"], before = moment, simulation.now
        scores = []
        for host in range(10):
            features, tie = asked(simulation, int(requests.function[number]), host)
            values = np.array(list(features.values()))
            scores.append(-values[0] - values[1] - tie - weights @ values)
        simulation.core.world[0]["now"] = before
        simulation.advance(moment + 1e-9)
        assert simulation.core.results[number]["host"] == int(np.argmax(scores))


def test_the_guard_brings_a_policy_of_the_wrong_kind_back_to_the_rule():
    """One that likes company: right where nobody slows anybody down, ruinous where all share the cores."""
    wrong = np.zeros(COUNT)
    wrong[FEATURES.index("others")], wrong[FEATURES.index("same")] = -1.0, -2.0
    longer = {"workload.calls": 900, "workload.duration": "200 s"}
    trusting = placements(replace(rank.policy, weights=(*wrong, math.inf, 0.0, 1.0)), **longer)
    guarded = placements(replace(rank.policy, weights=(*wrong, 1.2, 0.0, 1.0)), **longer)
    rule = placements(rank.untrained(), **longer)
    mean = [
        float((each.core.results["completion"] - each.workload.arrival).mean()) for each in (trusting, guarded, rule)
    ]
    assert mean[0] > 1.3 * mean[2]
    assert mean[1] < mean[2] + 0.2 * (mean[0] - mean[2])
    assert guarded.mind.memory[rank.GUARD + FALLS] >= 1.0
    assert trusting.mind.memory[rank.GUARD + FALLEN] == 0.0


def test_the_guard_stays_quiet_where_times_are_as_expected():
    calm = placements(replace(rank.policy, weights=(0.0,) * COUNT + (1.7, 0.0, 1.0)), model="A")
    assert calm.mind.memory[rank.GUARD + FALLS] == 0.0


def test_machines_unlike_those_of_training_are_left_to_the_rule():
    """Trained where a request can use an eighth of a host, run where it can use all of it."""
    wrong = (-0.9,) * COUNT
    ours = placements(replace(rank.policy, weights=(*wrong, math.inf, 0.125, 0.125)))
    assert np.array_equal(ours.core.results, placements(rank.untrained()).core.results)
    known = placements(replace(rank.policy, weights=(*wrong, math.inf, 0.125, 0.125)), model="A")
    assert not np.array_equal(known.core.results, placements(rank.untrained(), model="A").core.results)


def folder(weights=None, limit=2.0, features=FEATURES, shares=(0.125, 1.0), **arrays):
    about = Description(decision="place", policy="rank", recipe="best", features=features)
    given = {"weights": np.zeros(COUNT) if weights is None else weights, "limit": np.array([limit])}
    given["shares"] = np.array(shares)
    return Trained(about, given | arrays, "mine")


def test_a_trained_folder_becomes_a_policy():
    made = rank.build(folder(np.full(COUNT, 0.5)), {})
    assert made.name == "rank" and made.weights == (0.5,) * COUNT + (2.0, 0.125, 1.0)
    assert rank.build(folder(), {"guard": False}).weights[COUNT:] == (math.inf, 0.0, 1.0)


@pytest.mark.parametrize(
    ("given", "parameters", "complaint"),
    [
        (folder(np.zeros(3)), {}, rf"weights 'weights' have shape \(3,\), must be \({COUNT},\)"),
        (folder(features=("own", "other")), {}, "feature = 'other', must be one of: own, others"),
        (folder(limit=0.5), {}, "limit = 0.5, must be above 1"),
        (folder(more=np.zeros(1)), {}, "weights hold 'more', must hold only: weights, limit, shares"),
        (folder(shares=(0.5, 0.2)), {}, "shares = 0.5, 0.2, must rise from 0 to 1"),
        (folder(), {"trust": 1}, "parameter = 'trust', must be one of: guard"),
        (folder(), {"guard": "no"}, "guard = 'no', must be true or false"),
    ],
)
def test_what_does_not_fit_is_refused(given, parameters, complaint):
    with pytest.raises(TrimtabError, match=complaint):
        rank.build(given, parameters)
