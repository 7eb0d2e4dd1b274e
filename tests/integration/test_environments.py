"""The environments keep Gymnasium's contract, and the engine behind them is the engine."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from tests.integration.environment_rules import fewest_inflight, lowest_load, play
from tests.worlds import MIB, finished, scenario, simulation

import trimtab.learn.environments  # noqa: F401 (registers them)
from trimtab.control.run import build_team, run
from trimtab.errors import TrimtabError
from trimtab.learn.environments.place import FEATURES, PlaceEnvironment
from trimtab.learn.environments.route import RouteEnvironment
from trimtab.learn.environments.scale import FEATURES as SCALE_FEATURES
from trimtab.learn.environments.scale import ScaleEnvironment, ScaleWeights
from trimtab.learn.environments.select import SelectEnvironment
from trimtab.policies import registry
from trimtab.policies.place.outside import Outside
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.sim import records
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

SHORT = ["workload.duration=40 s", "workload.warm_up=0"]
QUICK = ["workload.duration=10 min"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Place", {"scenario": "faasrank-m1"}),
        ("Place", {"scenario": "faasrank-canada", "max_hosts": 16, "time_limit": 20.0}),
        ("Route", {"changes": SHORT}),
        ("Route", {"scenario": "joint-edge", "changes": SHORT, "reward": "penalty"}),
        ("Scale", {"changes": QUICK}),
        ("Scale", {"scenario": "autoscale-hotel", "changes": QUICK, "actions": "residuals"}),
        ("Select", {"changes": SHORT}),
        ("Select", {"scenario": "faasrank-canada"}),
    ],
)
def test_gymnasium_finds_nothing_wrong(name: str, options: dict[str, object]) -> None:
    check_env(gymnasium.make(f"trimtab/{name}-v0", **options).unwrapped)  # warnings are errors here


@pytest.mark.parametrize("preset", ["faasrank-canada", "faasrank-m1"])
def test_a_placing_rule_from_outside_is_the_built_in_rule(preset: str) -> None:
    world = load_scenario(preset)
    requests = build_workload(world, 5)
    inside = Simulation(world, requests, 5, place=registry.load("place", "least-connections"))
    inside.advance()
    environment = PlaceEnvironment(world, seeds=[5])
    rewards, decisions = play(environment, fewest_inflight)
    outside = environment.simulation.core
    assert decisions == len(requests) == int(outside.world[0]["decisions"])
    assert outside.results.tobytes() == inside.core.results.tobytes()
    fct = math.fsum(outside.results["completion"] - requests.arrival)
    assert math.fsum(rewards) == pytest.approx(-fct, rel=1e-12, abs=1e-9)


def chained() -> Scenario:
    """Chains, faults that take all hosts, little memory, functions that start with instances."""
    cold = {"create": 0.3, "init": 0.2}
    return scenario(
        [{"next": "f1"} | cold, {"memory": 512 * MIB, "instances": 2} | cold],
        [{"cores": 2.0}, {"memory": 600 * MIB}, {}],
        faults=[{"kind": "host-down", "host": host, "at": 4.0 + 0.1 * host, "lasts": 1.0} for host in range(3)],
        workload={"source": "poisson", "rate": 4.0, "duration": 12.0},
    )


def test_chains_faults_and_requests_for_no_host_are_the_same_from_outside() -> None:
    world = chained()
    requests = build_workload(world, 3)
    inside = simulation(world, requests, 3, place="least-connections")
    inside.advance()
    environment = PlaceEnvironment(world, seeds=[3])
    play(environment, fewest_inflight)
    results = environment.simulation.core.results
    assert results.tobytes() == inside.core.results.tobytes()
    assert set(results["status"]) == {records.COMPLETED, records.FAILED, records.REJECTED}


@pytest.mark.parametrize("preset", ["aset-full-edge", "joint-edge"])
def test_a_routing_rule_from_outside_is_the_built_in_rule(preset: str) -> None:
    world = load_scenario(preset, ["workload.duration=90 s", "workload.warm_up=0"])
    requests = build_workload(world, 4)
    inside = run(world, requests, 4, build_team(world, "route", "load-balancing"), "inside")
    environment = RouteEnvironment(world, seeds=[4])
    rewards, decisions = play(environment, lowest_load)
    results = environment.simulation.core.results
    assert results["completion"].tobytes() == inside.completion.tobytes()
    assert np.array_equal(results["worker"], inside.worker)
    assert 0 < decisions < int(environment.simulation.core.world[0]["decisions"]) + 1
    in_time = (results["status"] == records.COMPLETED) & (results["late"] == 0)
    assert sum(rewards) == int(in_time.sum())


def test_every_stream_can_be_rejected() -> None:
    environment = RouteEnvironment("aset-full-edge", changes=SHORT, reward="penalty", rejected_weight=2.0)
    rewards, _ = play(environment, lambda features, mask: len(mask) - 1, seed=1)
    status = environment.simulation.core.results["status"]
    assert set(status) == {records.REJECTED}
    assert -2.0 * len(status) <= sum(rewards) < 0.0


def test_features_are_what_a_policy_sees() -> None:
    environment = PlaceEnvironment("faasrank-canada", max_hosts=12, seeds=[1])
    seen, _ = environment.reset()
    row = dict(zip(FEATURES, seen["features"][3].tolist()))
    assert (row["host.cores"], row["host.memory"], row["host.inflight"]) == (8.0, 2.0, 0.0)
    slot = environment.simulation.core.world[0]["asked"]
    asked = environment.simulation.core.active[slot]
    assert row["request.work"] == pytest.approx(float(asked["work"]))
    assert row["request.memory"] == pytest.approx(float(asked["memory"]) / 2**30)
    seen = environment.step(3)[0]
    row = dict(zip(FEATURES, seen["features"][3].tolist()))
    assert row["host.inflight"] == 1.0
    assert row["host.starting"] == 1.0
    assert seen["mask"].tolist() == [1] * 10 + [0, 0]
    assert not seen["features"][10:].any()
    assert environment.action_masks().tolist() == [True] * 10 + [False] * 2


def test_an_action_that_the_mask_forbids_is_replaced_or_refused() -> None:
    environment = PlaceEnvironment("faasrank-canada", max_hosts=12, seeds=[1])
    environment.reset()
    info = environment.step(11)[4]  # after the last host comes the first
    assert info["replaced"] == 1
    assert environment.simulation.core.hosts["inflight"].tolist() == [1] + [0] * 9
    with pytest.raises(TrimtabError, match="action = 12, must be 0 to 11"):
        environment.step(12)
    strict = PlaceEnvironment("faasrank-canada", max_hosts=12, seeds=[1], strict=True)
    strict.reset()
    with pytest.raises(TrimtabError, match="action = 11, must be one that the mask allows"):
        strict.step(11)


def test_a_host_that_is_down_is_masked() -> None:
    world = scenario(
        hosts=[{}, {}],
        faults=[{"kind": "host-down", "host": 0, "at": 1.0, "lasts": 100.0}],
        workload={"source": "poisson", "rate": 5.0, "duration": 4.0},
    )
    environment = PlaceEnvironment(world, seeds=[1])
    seen, info = environment.reset()
    masks = {}
    over = False
    while not over:
        masks[info["now"]] = seen["mask"].tolist()
        seen, _, terminated, truncated, info = environment.step(0)
        over = terminated or truncated
    assert all(mask == ([1, 1] if now < 1.0 else [0, 1]) for now, mask in masks.items())
    assert min(masks) < 1.0 < max(masks)


def test_a_limit_truncates_and_the_end_terminates() -> None:
    whole = PlaceEnvironment("faasrank-canada", seeds=[1])
    rewards, decisions = play(whole, fewest_inflight)
    cut = PlaceEnvironment("faasrank-canada", seeds=[1], time_limit=10.0)
    seen, _ = cut.reset()
    terminated = truncated = False
    taken: list[float] = []
    while not terminated and not truncated:
        seen, reward, terminated, truncated, info = cut.step(fewest_inflight(seen["features"], seen["mask"]))
        taken.append(reward)
    assert (terminated, truncated) == (False, True)
    assert info["now"] >= 10.0
    assert cut.simulation.asks and seen["mask"].any()  # a decision that is left to take: a value can be told
    assert taken == rewards[: len(taken)] and len(taken) < decisions
    with pytest.raises(TrimtabError, match="must be reset"):
        cut.step(0)
    counted = PlaceEnvironment("faasrank-canada", seeds=[1], max_decisions=decisions)
    seen, _ = counted.reset()
    for _ in range(decisions):
        seen, _, terminated, truncated, _ = counted.step(fewest_inflight(seen["features"], seen["mask"]))
    assert (terminated, truncated) == (True, False)  # the last request has been placed: that is the end
    assert not seen["mask"].any() and not seen["features"].any()


def test_seeds_are_played_in_turn_and_drawn_ones_follow_the_reset() -> None:
    environment = PlaceEnvironment("faasrank-m1", seeds=[7, 9])
    assert [environment.reset()[1]["seed"] for _ in range(3)] == [7, 9, 7]
    assert environment.reset(seed=0)[1]["seed"] == 7
    assert environment.reset(options={"seed": 3})[1]["seed"] == 3
    drawn = PlaceEnvironment("faasrank-m1")
    first = [drawn.reset(seed=4)[1]["seed"], drawn.reset()[1]["seed"]]
    assert first == [drawn.reset(seed=4)[1]["seed"], drawn.reset()[1]["seed"]]
    assert min(first) >= 1_000_000 and first[0] != first[1]


def test_scaling_one_up_and_down_within_bounds() -> None:
    environment = ScaleEnvironment("autoscale-fibonacci", changes=[*QUICK, "control.maximum=6"], seeds=[1])
    environment.reset()
    assert environment.action_space.shape == (1,)
    start = int(environment.simulation.core.functions[0]["ready"])
    counts = []
    for action in (2, 2, 1, 0):
        environment.step(np.array([action]))
        row = environment.simulation.core.functions[0]
        counts.append(int(row["ready"] + row["starting"]))
    assert counts == [min(start + 1, 6), min(start + 2, 6), min(start + 2, 6), min(start + 2, 6) - 1]
    for _ in range(8):
        environment.step(np.array([2]))
    row = environment.simulation.core.functions[0]
    assert int(row["ready"] + row["starting"]) == 6


@pytest.mark.parametrize(
    ("actions", "action", "message"),
    [("steps", 3.0, "must be 0, 1 or 2"), ("steps", np.nan, "0, 1 or 2"), ("residuals", np.inf, "finite numbers")],
)
def test_an_action_that_means_nothing_is_refused(actions: str, action: float, message: str) -> None:
    environment = ScaleEnvironment("autoscale-fibonacci", changes=QUICK, seeds=[1], actions=actions)
    environment.reset()
    with pytest.raises(TrimtabError, match=message):
        environment.step(np.array([action]))


def test_no_residual_is_the_rule_itself() -> None:
    world = load_scenario("autoscale-hotel", [*QUICK, "control.period=15 s", "control.metrics_delay=20 s"])
    requests = build_workload(world, 2)
    rule = run(world, requests, 2, build_team(world, "scale", "square-root"), "rule")
    environment = ScaleEnvironment(world, actions="residuals", seeds=[2])
    environment.reset()
    over = False
    while not over:
        _, _, terminated, truncated, _ = environment.step(np.zeros(5))
        over = terminated or truncated
    assert terminated
    assert environment.simulation.core.results["completion"].tobytes() == rule.completion.tobytes()


def test_metrics_of_a_function_without_answers_are_flagged() -> None:
    environment = ScaleEnvironment("autoscale-hotel", changes=[*QUICK, "control.period=0.05 s"], seeds=[1])
    seen, _ = environment.reset()
    row = dict(zip(SCALE_FEATURES, seen[4].tolist()))  # nothing has come through the whole chain yet
    assert (row["has_latency"], row["latency_p99"], row["has_service_mean"]) == (0.0, 0.0, 0.0)
    assert row["has_slo"] == 0.0 and seen[0][SCALE_FEATURES.index("has_slo")] == 1.0


def test_instances_cost_what_the_weights_say() -> None:
    weights = ScaleWeights(violations=0.0, instances=0.5)
    environment = ScaleEnvironment("autoscale-fibonacci", changes=QUICK, seeds=[1], weights=weights)
    environment.reset()
    reward = environment.step(np.array([1]))[1]
    assert reward == pytest.approx(-0.5 * float(environment.simulation.core.functions[0]["ready"]))


def test_a_selector_that_never_changes_is_the_policy_itself() -> None:
    world = load_scenario("aset-full-edge", SHORT)
    requests = build_workload(world, 2)
    inside = Simulation(world, requests, 2, route=registry.load("route", "closest"))
    done = finished(inside)
    environment = SelectEnvironment(world, seeds=[2], policies=["load-balancing", "closest"], window=5.0)
    seen, _ = environment.reset()
    assert seen["policy"].tolist() == [0, 0]
    over, rewards = False, []
    while not over:
        seen, reward, terminated, truncated, info = environment.step(1)
        over = terminated or truncated
        rewards.append(reward)
    assert (terminated, truncated, info["policy"]) == (True, False, "closest")
    assert seen["policy"].tolist() == [0, 1]
    assert environment.simulation.core.results["completion"].tobytes() == done.completion.tobytes()
    assert all(0.0 <= reward <= 1.0 for reward in rewards) and min(rewards) < 1.0


def test_too_few_successes_terminate_and_a_time_limit_truncates_a_selection() -> None:
    options = {"changes": SHORT, "seeds": [2], "policies": ["farthest"], "window": 5.0}
    failing = SelectEnvironment("aset-full-edge", least_success=1.0, **options)
    failing.reset()
    steps = [failing.step(0)]
    while not steps[-1][2]:
        steps.append(failing.step(0))
    assert not failing.simulation.ended and steps[-1][1] < 1.0 and not steps[-1][3]
    limited = SelectEnvironment("aset-full-edge", time_limit=10.0, **options)
    limited.reset()
    assert [limited.step(0)[2:4] for _ in range(2)] == [(False, False), (False, True)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PlaceEnvironment("autoscale-hotel"), "platform.dispatch = 'cluster', must be 'host'"),
        (lambda: PlaceEnvironment("faasrank-canada", max_hosts=3), "max_hosts = 3, must be at least 10"),
        (lambda: PlaceEnvironment("faasrank-canada", seeds=[]), "seeds = \\[\\]"),
        (lambda: PlaceEnvironment("faasrank-canada", time_limit=0.0), "time_limit = 0.0, must be above 0"),
        (lambda: SelectEnvironment("faasrank-canada", window=-1.0), "window = -1.0, must be above 0"),
        (lambda: RouteEnvironment("faasrank-canada"), "decides place, must have streams"),
        (lambda: RouteEnvironment("aset-full-edge", reward="speed"), "reward = 'speed'"),
        (lambda: ScaleEnvironment("faasrank-canada"), "must have instances that are scaled"),
        (lambda: ScaleEnvironment("autoscale-hotel", actions="jumps"), "actions = 'jumps'"),
        (lambda: SelectEnvironment("assign-batch"), "this scenario has: assign"),
        (lambda: SelectEnvironment("aset-full-edge", policies=["fastest"]), "route policy = 'fastest'"),
    ],
)
def test_what_does_not_fit_is_one_line(make, message: str) -> None:
    with pytest.raises(TrimtabError, match=message):
        make()


def test_a_policy_that_asks_where_nobody_answers_is_an_error() -> None:
    world = scenario(platform={"dispatch": "cluster"}, workload={"source": "poisson", "rate": 1.0, "duration": 5.0})
    begun = Simulation(world, build_workload(world, 1), 1, place=Outside(1))
    with pytest.raises(TrimtabError, match="asks outside, only placements with dispatch 'host'"):
        begun.advance()
