"""``metanet``, ``dqn`` and the trained ``mab``: losses, steps and choices with numbers worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from trimtab.control.assign_windows import assign_feature_names
from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.select import perceptron
from trimtab.policies.select.contract import Situation, State, WindowOutcome
from trimtab.policies.select.dqn import LARGEST, NETWORK, DeepQ, Numbers, goals, gradients, reward_of
from trimtab.policies.select.dqn import sizes as layers_of
from trimtab.policies.select.metanet import MOST, Metanet, build, loss, sizes_of, units_of
from trimtab.policies.select.surrogates import GraphSurrogate, PerceptronSurrogate, Sizes, Surrogate
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario

RESOURCES = ("cpu", "memory", "disk")
SIZES = Sizes(2, 3, 2)


def features(applications: int = 1, hosts: int = 1) -> tuple[str, ...]:
    nodes = [f"app{index}" for index in range(applications)], [f"host{index}" for index in range(hosts)]
    used = [f"{resource} of {name}" for names in nodes for name in names for resource in RESOURCES]
    return (*used, *(f"{name} on {host}" for name in nodes[0] for host in nodes[1]))


def situation(names: tuple[str, ...] = features()) -> Situation:
    return Situation("assign", ("a", "b"), "a", names, 10.0)


def state(values: Any = None) -> State:
    return State("a", np.zeros(7) if values is None else np.asarray(values, float), np.ones(1), 1.0)


def zeros(shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    return {name: np.zeros(shape) for name, shape in shapes.items()}


def described(policy: str, arrays: dict[str, np.ndarray], **settings: Any) -> Trained:
    chosen = {"candidates": ["a", "b"], "fallback": "a"} | settings
    about = Description(decision="select", policy=policy, recipe="paper", features=features(), settings=chosen)
    return Trained(about, arrays)


def metanet(rate: float = 1.6, most: Any = ((0.04, 2.0), (0.02, 1.0))) -> Metanet:
    """All weights zero: both answers are a half, whatever the state."""
    arrays = zeros(PerceptronSurrogate(Sizes(1, 1, 2)).shapes()) | {MOST: np.array(most)}
    made = Metanet(described("metanet", arrays, surrogate="perceptron", rate=rate))
    made.reset(situation(), 1)
    return made


def test_the_papers_loss() -> None:
    # φ̂ = ω̂ = 1/2; φ: 1 · 1/2 - 0.2 = 0.3; ω: 0.5 · 1/2 - 0.25 = 0
    value, signal = loss(np.zeros((1, 2)), np.array([[0.2, 0.25]]), np.array([[1.0, 0.5]]))
    assert value == pytest.approx(0.09)
    # 2 · 0.3 · 1 · 1/2 · 1/2
    assert signal == pytest.approx(np.array([[0.15, 0.0]]))


def test_units_are_the_largest_of_all_policies_and_never_zero() -> None:
    assert units_of(np.array([[0.04, 0.0], [0.02, 0.0]])).tolist() == [0.04, 1.0]


def test_a_choice_is_the_lowest_cost_in_each_policys_own_range() -> None:
    made = metanet()
    assert made.choose(state(), 0.0) == "b"
    assert made.expected == {"a": 0.02, "b": 0.01}
    assert made.seconds == {"a": 1.0, "b": 0.5}
    assert made.size == sum(array.nbytes for array in described_arrays().values())
    other = metanet(most=((0.01, 2.0), (0.02, 1.0)))
    assert other.choose(state(), 0.0) == "a"


def described_arrays() -> dict[str, np.ndarray]:
    return zeros(PerceptronSurrogate(Sizes(1, 1, 2)).shapes()) | {MOST: np.zeros((2, 2))}


def test_one_step_with_a_new_data_point() -> None:
    # b cost 0.02: in units of 0.04 it is 0.5, predicted 0.5 · 1/2, error -1/4; gradient 2 · -1/4 · 0.5 · 1/4 = -1/16;
    # with a rate of 1.6 the last bias is 0.1 from now on, in both of its heads (ω likewise: 1 s of 2, 0.5 · 1/2)
    made = metanet()
    made.choose(state(), 0.0)
    made.learn(WindowOutcome("b", 1, 0, 0, 0.02, 1.0))
    made.choose(state(), 10.0)
    share = 1.0 / (1.0 + math.exp(-0.1))
    assert made.expected["b"] == pytest.approx(0.02 * share)
    assert made.seconds["b"] == pytest.approx(share)


def test_an_interval_without_a_choice_is_no_data_point() -> None:
    made = metanet()
    made.learn(WindowOutcome("b", 1, 0, 0, 0.02, 1.0))
    made.choose(state(), 0.0)
    made.learn(WindowOutcome("b", 1, 0, 0, None, 1.0))
    made.learn(WindowOutcome("b", 1, 0, 0, 0.02, 1.0))
    made.choose(state(), 10.0)
    assert made.expected == {"a": 0.02, "b": 0.01}


def test_a_run_begins_with_what_was_trained() -> None:
    made = metanet()
    for _ in range(5):
        made.choose(state(), 0.0)
        made.learn(WindowOutcome("b", 1, 0, 0, 0.04, 1.0))
    made.reset(situation(), 1)
    made.choose(state(), 0.0)
    assert made.expected == {"a": 0.02, "b": 0.01}


def test_it_tunes_towards_what_it_sees() -> None:
    made = metanet(rate=0.5)
    for _ in range(400):
        made.choose(state(), 0.0)
        made.learn(WindowOutcome("b", 1, 0, 0, 0.015, 0.25))
    assert made.expected["b"] == pytest.approx(0.015, rel=0.02)
    assert made.seconds["b"] == pytest.approx(0.25, rel=0.05)


def test_a_state_that_is_no_number_is_an_error_that_the_guard_catches() -> None:
    with pytest.raises(FloatingPointError):
        made = metanet()
        made._weights["surrogate.3.bias"][:] = np.nan
        made.choose(state(), 0.0)


def test_other_hosts_are_refused_by_the_feature() -> None:
    with pytest.raises(TrimtabError, match="other hosts or applications, does not know the feature 'cpu of host1'"):
        metanet().check(situation(features(1, 2)))
    fewer = tuple(name for name in features() if name != "app0 on host0")
    with pytest.raises(TrimtabError, match="the feature 'app0 on host0' is not here"):
        metanet().check(situation(fewer))
    with pytest.raises(TrimtabError, match="in another order"):
        metanet().check(situation(features()[::-1]))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"surrogate": "tree"}, "surrogate"),
        ({"rate": -1.0}, "rate = -1.0"),
        ({"fallback": "c"}, "fallback = 'c'"),
        ({"candidates": []}, "candidates"),
    ],
)
def test_settings_that_do_not_suit(change: dict[str, Any], complaint: str) -> None:
    settings: dict[str, Any] = {"surrogate": "perceptron", "rate": 0.1} | change
    with pytest.raises(TrimtabError, match=complaint):
        build(described("metanet", described_arrays(), **settings), {})


def test_a_rate_of_ones_own() -> None:
    found = described("metanet", described_arrays(), surrogate="perceptron", rate=0.1)
    assert build(found, {"rate": 0})._rate == 0
    with pytest.raises(TrimtabError, match="rate = 'fast'"):
        build(found, {"rate": "fast"})


def test_sizes_come_from_the_names() -> None:
    world = Scenario.model_validate(
        {
            "name": "small", "decision": "assign", "workload": {"source": "poisson", "rate": 1.0, "duration": 1.0},
            "functions": [{"name": name, "memory": 1.0} for name in ("x", "y on z")],
            "hosts": [{"name": "h", "count": 3, "cores": 1.0, "memory": 9.0}],
        }
    )  # fmt: skip
    assert sizes_of(assign_feature_names(world), ("a", "b")) == SIZES
    with pytest.raises(TrimtabError, match="not \\[W, H, S\\]"):
        sizes_of(("cpu of x", "x on y"), ("a",))


@pytest.mark.parametrize("kind", [PerceptronSurrogate, GraphSurrogate])
def test_gradients_are_those_of_finite_differences(kind: Any) -> None:
    random = np.random.default_rng(1)
    surrogate: Surrogate = kind(SIZES)
    weights = surrogate.drawn(random)
    assert {name: array.shape for name, array in weights.items()} == surrogate.shapes()
    weights = {name: array + 0.1 * random.normal(size=array.shape) for name, array in weights.items()}
    states, policies = random.random((4, SIZES.features)), np.array([0, 1, 1, 0])
    true, most = random.random((4, 2)), np.ones((4, 2))

    def value() -> float:
        return loss(surrogate.forward(weights, states, policies).outputs, true, most)[0]

    made = surrogate.forward(weights, states, policies)
    slopes = surrogate.backward(weights, made, loss(made.outputs, true, most)[1])
    assert slopes.keys() == weights.keys()
    for name, array in weights.items():
        place = tuple(random.integers(size) for size in array.shape)
        array[place] += 1e-6
        above = value()
        array[place] -= 2e-6
        numeric = (above - value()) / 2e-6
        array[place] += 1e-6
        assert slopes[name][place] == pytest.approx(numeric, rel=1e-3, abs=1e-8), name


def test_to_the_graph_equal_hosts_are_equal() -> None:
    random = np.random.default_rng(2)
    surrogate = GraphSurrogate(SIZES)
    weights = surrogate.drawn(random)
    workload, machines, graph = random.random(6), random.random((3, 3)), random.random((2, 3))
    order = [2, 0, 1]
    one = np.concatenate([workload, machines.ravel(), graph.ravel()])
    two = np.concatenate([workload, machines[order].ravel(), graph[:, order].ravel()])
    found = surrogate.forward(weights, np.stack([one, two]), np.array([1, 1])).outputs
    assert found[0] == pytest.approx(found[1])
    three = np.concatenate([workload, machines[order].ravel(), graph.ravel()])
    assert surrogate.forward(weights, three[np.newaxis], np.array([1])).outputs[0] != pytest.approx(found[0])


def network(bias: tuple[float, float]) -> dict[str, np.ndarray]:
    """Values that do not depend on the state."""
    weights = perceptron.drawn(NETWORK, layers_of(7, 2), np.random.default_rng(1))
    found = {name: np.zeros_like(array) for name, array in weights.items()}
    found[f"{NETWORK}.3.bias"] = np.array(bias)
    return found


def deep_q(bias: tuple[float, float], **change: Any) -> DeepQ:
    numbers = {name: getattr(Numbers(), name) for name in Numbers.__dataclass_fields__} | change
    made = DeepQ(described("dqn", network(bias) | {LARGEST: np.array([0.04])}, **numbers))
    made.reset(situation(), 1)
    return made


def test_goals_are_rewards_and_the_best_of_what_follows() -> None:
    # -0.5 + 0.9 · max(-3, -2)
    assert reward_of(0.02, 0.04) == -0.5
    assert reward_of(0.08, 0.04) == -1.0
    wanted = goals(network((-3.0, -2.0)), np.array([-0.5]), np.zeros((1, 7)), 0.9)
    assert wanted.tolist() == pytest.approx([-2.3])
    # no sum of rewards from -1 to 0 is beyond these
    assert goals(network((-30.0, -20.0)), np.array([-0.5]), np.zeros((1, 7)), 0.9).tolist() == pytest.approx([-10.0])
    assert goals(network((5.0, 4.0)), np.array([-0.5]), np.zeros((1, 7)), 0.9).tolist() == [0.0]


def test_only_the_value_of_what_was_done_moves() -> None:
    # value -2 of the second, wanted -2.5: error 0.5, its gradient 2 · 0.5
    value, slopes = gradients(network((-3.0, -2.0)), np.zeros((1, 7)), np.array([1]), np.array([-2.5]))
    assert value == pytest.approx(0.25)
    assert slopes[f"{NETWORK}.3.bias"].tolist() == pytest.approx([0.0, 1.0])


def test_dqn_takes_the_highest_value_and_explores_as_often_as_told() -> None:
    assert {deep_q((-3.0, -2.0), exploration=0.0).choose(state(), 0.0) for _ in range(20)} == {"b"}
    made = deep_q((-3.0, -2.0), exploration=1.0)
    taken = [made.choose(state(), 0.0) for _ in range(200)]
    assert 60 < taken.count("a") < 140


def test_dqn_learns_to_avoid_what_is_dear_and_its_memory_is_bounded() -> None:
    made = deep_q((-0.2, -0.1), discount=0.0, exploration=0.2, rate=0.1, memory=50)
    for interval in range(300):
        chosen = made.choose(state(), 10.0 * interval)
        made.learn(WindowOutcome(chosen, 1, 0, 0, 0.01 if chosen == "a" else 0.03, 1.0))
    assert len(made._memory) == 50
    values = perceptron.forward(made._weights, NETWORK, np.zeros((1, 7))).outputs[0]
    # 0.01 and 0.03 of 0.04
    assert values.tolist() == pytest.approx([-0.25, -0.75], abs=0.05)


def test_a_trained_bandit_begins_with_its_arms() -> None:
    # bound, with 13 choices in all: -(sum of costs / largest) / (1 + count) + 0.1 * sqrt(2 ln 13 / (1 + count))
    arrays = {"count": np.array([3.0, 8.0]), "cost": np.array([0.06, 0.16]), "largest": np.array([0.04])}
    made = registry.built(described("mab", arrays), "select")
    made.reset(situation(), 1)
    first = -1.5 / 4.0 + 0.1 * math.sqrt(2.0 * math.log(13.0) / 4.0)
    assert made._bound("a", np.ones(1)) == pytest.approx(first)
    assert made._bound("b", np.ones(1)) == pytest.approx(-4.0 / 9.0 + 0.1 * math.sqrt(2.0 * math.log(13.0) / 9.0))
    assert made.choose(state(), 0.0) == "a"
    made.learn(WindowOutcome("a", 1, 0, 0, 0.08, 1.0))
    # a larger cost than any before is what all are divided by from then on
    more = 0.1 * math.sqrt(2.0 * math.log(14.0) / 5.0)
    assert made._bound("a", np.ones(1)) == pytest.approx(-(0.14 / 0.08) / 5.0 + more)
    made.reset(situation(), 1)
    assert made._bound("a", np.ones(1)) == pytest.approx(first)


def test_mab_is_listed_once_and_learns_from_nothing_where_there_is_no_trained_one() -> None:
    assert registry.names("select").count("mab") == 1
    assert type(registry.load("select", "mab", None, "aset-full-edge")).__name__ == "Bandit"
