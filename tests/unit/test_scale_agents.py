"""What the learned autoscalers see, what they may do, and how a trained one is read: worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.scale_builders import seen

from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.network import count, forward
from trimtab.policies.scale.agent import BEST_FEATURES, PAPER_FEATURES, act, actions_of, choose, features_of, observe
from trimtab.policies.scale.contract import HOLD
from trimtab.policies.scale.q_table import EDGES, cell, cells
from trimtab.policies.trained import Description, Trained

BUSY = seen(window=5.0, arrivals=500, completions=490, ready=15, starting=5, cpu_cores=9.0, memory_bytes=15 * 512e6,
            latency_p95=1.0, queued=40, service_mean=0.1)  # fmt: skip


def described(policy: str, *, direction: str = "horizontal", recipe: str = "paper", **settings: object) -> Description:
    features = features_of(recipe, direction)
    return Description(decision="scale", policy=policy, recipe=recipe, features=features,
                       settings={"direction": direction, **settings})  # fmt: skip


def table(values: np.ndarray | None = None, **settings: object) -> Trained:
    edges = {name: list(EDGES[name]) for name in PAPER_FEATURES}
    found = np.zeros((cells(PAPER_FEATURES), 3)) if values is None else values
    return Trained(described("q-table", edges=edges, **settings), {"table": found})


def network(layers: list[int], **settings: object) -> Trained:
    weights = np.random.default_rng(1).standard_normal(count(layers))
    return Trained(described("dqn", layers=layers, **settings), {"weights": weights})


def test_the_slides_state() -> None:
    inputs, memory = observe(PAPER_FEATURES, BUSY, None)
    # requirement 0.5 s; 9 of 20 cores; 15 of 20 containers hold memory; 20 containers of 100
    assert inputs == pytest.approx([0.5, 0.45, 0.75, 0.2])
    assert memory.load == pytest.approx(10.0)  # 100 requests a second of 0.1 s


def test_the_state_of_our_own() -> None:
    inputs, _ = observe(BEST_FEATURES, BUSY, 8.0)
    named = dict(zip(BEST_FEATURES, inputs, strict=True))
    assert named["size"] == 1.0
    assert named["tail"] == pytest.approx(2.0 / 4.0)  # twice the requirement, 4 times is 1
    assert named["load"] == pytest.approx(10.0 / 20.0)
    assert named["trend"] == pytest.approx((10.0 - 8.0) / 20.0)
    assert named["queue"] == pytest.approx(40 / 20 / 10)


def test_a_vertical_agent_sees_the_size() -> None:
    assert features_of("paper", "horizontal") == PAPER_FEATURES
    assert features_of("paper", "vertical") == (*PAPER_FEATURES, "size")
    assert features_of("best", "joint") == BEST_FEATURES


def test_work_is_counted_in_cores_whatever_the_size() -> None:
    large = seen(window=1.0, arrivals=100, service_mean=0.05, cpu_limit=2.0, ready=5)
    _, memory = observe(PAPER_FEATURES, large, None)
    assert memory.load == pytest.approx(10.0)


def test_actions_are_up_down_and_none() -> None:
    assert actions_of("horizontal") == ((-1, 0), (0, 0), (1, 0))
    assert actions_of("vertical") == ((0, -1), (0, 0), (0, 1))
    joint = actions_of("joint")
    assert len(joint) == len(set(joint)) == 9
    assert joint[0] == (-1, -1)
    assert joint[-1] == (1, 1)


@pytest.mark.parametrize(
    ("action", "instances", "cpu"),
    [((1, 0), 21, None), ((-1, 0), 19, None), ((0, 0), None, None), ((0, 1), None, 1.25), ((-1, -1), 19, 0.75)],
)
def test_an_action_as_a_decision(action: tuple[int, int], instances: int | None, cpu: float | None) -> None:
    found = act(BUSY, action, 0.25)
    assert (found.instances, found.cpu) == (instances, cpu)


def test_nothing_shrinks_below_one_instance_and_one_step() -> None:
    found = act(seen(ready=1, cpu_limit=0.25), (-1, -1), 0.25)
    assert (found.instances, found.cpu) == (1, 0.25)


def test_of_equal_actions_the_one_with_least_resources() -> None:
    assert choose(np.array([9.97, 10.0, 9.9]), 0.05) == 0
    assert choose(np.array([9.97, 10.0, 9.9]), 0.0) == 1
    assert choose(np.array([1.0, 2.0, 9.0]), 0.05) == 2


def test_cells_count_the_last_feature_fastest() -> None:
    features = ("memory", "cpu")  # 2 and 9 cells
    assert cells(features) == 18
    assert cell(features, np.array([0.0, 0.1])) == 0
    assert cell(features, np.array([0.0, 0.99])) == 8
    assert cell(features, np.array([0.5, 0.2])) == 9 + 1  # an edge belongs to the cell above it


def test_a_table_takes_the_best_action_of_its_row() -> None:
    values = np.zeros((cells(PAPER_FEATURES), 3))
    inputs, _ = observe(PAPER_FEATURES, BUSY, None)
    values[cell(PAPER_FEATURES, inputs)] = (0.0, 0.0, 1.0)
    policy = registry.built(table(values), "scale")
    assert policy.name == "q-table"
    assert policy.decide(BUSY, None, 0.0)[0].instances == 21


def test_a_network_takes_its_highest_output() -> None:
    trained = network([4, 8, 3])
    policy = registry.built(trained, "scale", {"period": 2.0})
    inputs, _ = observe(PAPER_FEATURES, BUSY, None)
    outputs = forward(trained.arrays["weights"], [4, 8, 3], inputs)[0]
    assert policy.values(inputs) == pytest.approx(outputs)
    assert policy.decide(BUSY, None, 0.0)[0].instances in ({0: 19, 1: None, 2: 21}[int(outputs.argmax())],)
    assert policy.period == 2.0


def test_no_data_is_not_zero() -> None:
    policy = registry.built(table(), "scale")
    assert policy.decide(seen(window=0.0), None, 0.0) == (HOLD, None)
    assert policy.decide(seen(cpu_cores=float("nan")), None, 0.0) == (HOLD, None)


@pytest.mark.parametrize(
    ("trained", "line"),
    [
        (table(np.zeros((5, 3))), "weights 'table' have shape (5, 3)"),
        (table(direction="sideways"), "direction = 'sideways', must be one of: horizontal, vertical, joint"),
        (Trained(described("q-table", edges={}), {"table": np.zeros((1, 3))}), "edges are not those of this version"),
        (network([5, 3]), "layers = [5, 3], must be whole numbers from 4 to 3"),
        (network([4, 3]), ""),
        (Trained(described("dqn", layers=None), {}), "layers = None"),
        (Trained(described("dqn", layers=[4, 0, 3]), {}), "layers = [4, 0, 3]"),
        (Trained(described("dqn", layers=[4, 3]), {"weights": np.zeros(3)}), "weights 'weights' have shape (3,)"),
    ],
)
def test_a_bad_folder_is_refused(trained: Trained, line: str) -> None:
    if not line:
        assert registry.built(trained, "scale").name == "dqn"
        return
    with pytest.raises(TrimtabError) as caught:
        registry.built(trained, "scale")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_parameter_is_refused() -> None:
    with pytest.raises(TrimtabError, match="parameter = 'perod', must be one of"):
        registry.built(table(), "scale", {"perod": 1})
    with pytest.raises(TrimtabError, match="period = 0, must be above 0"):
        registry.built(table(), "scale", {"period": 0})
