"""Autoscalers in training: they reach the requirement, stop there, resume as if unbroken, and run without torch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.unit.scale_builders import seen  # noqa: E402

from trimtab.errors import TrimtabError  # noqa: E402
from trimtab.learn import recipe  # noqa: E402
from trimtab.learn.scale import dqn, episode, q_table, residual  # noqa: E402
from trimtab.learn.scale.learner import QLearner  # noqa: E402
from trimtab.learn.scale.replay import Replay  # noqa: E402
from trimtab.learn.scale.reward import balanced_reward, qos_reward  # noqa: E402
from trimtab.policies import registry  # noqa: E402
from trimtab.policies.trained import load, save  # noqa: E402
from trimtab.scenario.load import parse_scenario  # noqa: E402

TINY = """
name: tiny
decision: scale
hosts: [{name: node, count: 2, cores: 16, memory: 64 GiB}]
functions:
  - {name: f, memory: 128 MiB, create: 2 s, work: 200 ms, distribution: lognormal, work_deviation: 0.2, cpu: 1,
     concurrency: 1, deadline: 1 s, instances: 2}
platform: {dispatch: cluster, instances: controlled}
control: {minimum: 1, maximum: 24}
workload: {source: poisson, rate: 20 /s, duration: 400}
"""
SCENARIO = parse_scenario(TINY)
SHORT = parse_scenario(TINY, ["workload.duration=60"])


class Idle:
    """Actions drawn at random, for comparison."""

    name, knob, period = "random", None, 5.0

    def __init__(self) -> None:
        self.random = np.random.default_rng(1)

    def decide(self, metrics: Any, state: Any, now: float) -> Any:
        from trimtab.policies.scale.agent import act, actions_of

        return act(metrics, actions_of("horizontal")[int(self.random.integers(3))], 0.25), None


def arrays_equal(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


def test_rewards_by_hand() -> None:
    assert qos_reward(seen(latency_p95=0.4)) == 1.0
    assert qos_reward(seen(latency_p95=1.5)) == pytest.approx(-np.log(3.0))
    assert qos_reward(seen(latency_p95=None, queued=3)) == pytest.approx(-np.log(4.0))
    assert qos_reward(seen(latency_p95=None)) == 1.0
    # 12 cores under a load of 10; then two violations a second, 5 core-seconds each
    good = seen(window=5.0, arrivals=500, ready=12)
    assert balanced_reward(good) == pytest.approx(-1.2)
    assert balanced_reward(replace(good, violations=10)) == pytest.approx(-2.2)


def test_replay_keeps_the_newest() -> None:
    replay = Replay(3, 1)
    for value in range(5):
        replay.add(np.array([value]), value, float(value), np.array([value + 1]), value == 4)
    assert len(replay) == 3
    assert sorted(replay.action.tolist()) == [2, 3, 4]
    before, action, reward, after, over = replay.sample(50, np.random.default_rng(1))
    assert set(action.tolist()) == {2, 3, 4}
    assert np.array_equal(before[:, 0], action)
    assert np.array_equal(reward, action)
    assert np.array_equal(after[:, 0], action + 1)
    assert np.array_equal(over == 1, action == 4)


def test_one_update_of_a_table_by_hand() -> None:
    learner = q_table.paper.start(SHORT, 1, 1)
    inputs = np.array([1.0, 0.5, 1.0, 0.1])
    before = learner.values(inputs).copy()
    assert before == pytest.approx([10.0, 10.0, 10.0])  # as if the requirement held for ever
    learner.learn(inputs, 2, -1.0, inputs, False)
    # 10 + 0.2 x (-1 + 0.9 x 10 - 10)
    assert learner.values(inputs) == pytest.approx([10.0, 10.0, 10.0 + q_table.RATE * (-1 + 9 - 10)])
    learner.learn(inputs, 0, -20.0, inputs, True)  # the end of an episode: nothing comes after it
    assert learner.values(inputs)[0] == pytest.approx(10.0 + q_table.RATE * (-20 - 10))


def test_an_episode_is_a_part_of_the_workload() -> None:
    from trimtab.workload.build import build_workload

    whole = build_workload(parse_scenario(TINY, ["workload.duration=5000"]), 1)
    part = episode.part(whole, 7)
    assert part.duration == episode.LENGTH
    assert part.warm_up == episode.SETTLING
    assert 0.0 <= part.arrival[0] < part.arrival[-1] <= part.duration
    assert len(part.arrival) == len(part.work) == len(part.function)
    assert not np.array_equal(part.work[:50], episode.part(whole, 8).work[:50])


def test_training_reaches_the_requirement_and_stops_there() -> None:
    quick = replace(q_table.paper.settings, exploring=0.4, patience=2)
    learner = q_table.TableRecipe(quick).start(SCENARIO, 1, 20)
    progress = [learner.step() for _ in range(20)]
    assert not learner.learning
    last = progress[-1].figures
    assert last["p95_s"] <= 1.0
    assert last["learning"] == 0.0
    assert last["exploration"] == 0.0
    frozen = learner.table.copy()
    learner.step()
    assert np.array_equal(frozen, learner.table)
    drawn = episode.play(SCENARIO, Idle(), recipe.TRAINING_SEEDS + 5)
    assert last["violations"] < drawn.violations
    assert {"p95_s", "instances", "cores"} <= last.keys()


@pytest.mark.parametrize("kind", [q_table.paper, dqn.paper, dqn.best])
def test_the_same_seed_gives_the_same_weights_and_resuming_changes_nothing(kind: Any) -> None:
    unbroken, broken = kind.start(SHORT, 3, 4), kind.start(SHORT, 3, 4)
    first = [unbroken.step() for _ in range(4)]
    again = [broken.step() for _ in range(2)]
    arrays, meta = broken.state()
    resumed = kind.start(SHORT, 3, 4)
    resumed.restore({name: array.copy() for name, array in arrays.items()}, meta)
    again += [resumed.step() for _ in range(2)]
    assert first == again
    assert arrays_equal(unbroken.trained().arrays, resumed.trained().arrays)
    other = kind.start(SHORT, 4, 4)
    other.step()
    assert not arrays_equal(unbroken.trained().arrays, other.trained().arrays)


@pytest.mark.parametrize("kind", [dqn.paper, dqn.paper_vertical, dqn.best])
def test_numpy_agrees_with_torch(kind: Any, tmp_path: Path) -> None:
    learner = kind.start(SHORT, 1, 2)
    learner.step()
    save(tmp_path / "dqn", learner.trained())
    policy = registry.built(load(tmp_path / "dqn"), "scale")
    inputs = np.random.default_rng(2).random((100, len(learner.settings.features)))
    for row in inputs:
        assert policy.values(row) == pytest.approx(learner.values(row), abs=1e-5)


class Own(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A network that nobody here has thought of."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.gate = torch.nn.Linear(inputs, actions)
        self.value = torch.nn.Linear(inputs, actions)

    def forward(self, rows: Any) -> Any:
        return torch.sigmoid(self.gate(rows)) * self.value(rows)


def test_any_model_can_be_trained() -> None:
    own = dqn.DqnRecipe(dqn.paper.settings, dqn.Rates(batch=4), build=Own)
    learner = own.start(SHORT, 1, 2)
    before = learner.network.value.weight.detach().clone()
    learner.step()
    assert not torch.equal(before, learner.network.value.weight)
    with pytest.raises(TrimtabError, match="only dense layers with tanh"):
        learner.trained()
    with pytest.raises(TrimtabError, match=r"must be \(2, 3\)"):
        replace(own, build=lambda inputs, actions: torch.nn.Linear(inputs, actions + 1)).start(SHORT, 1, 2)


def test_without_a_requirement_there_is_nothing_to_learn() -> None:
    for kind in (q_table.paper, residual.best):
        with pytest.raises(TrimtabError, match="none has a deadline"):
            kind.start(parse_scenario(TINY, ["functions.f.deadline=null"]), 1, 2)


def test_every_recipe_is_found() -> None:
    for decision, policy, name in recipe.RECIPES:
        if decision == "scale":
            found = recipe.find(decision, policy, name)
            assert found.budget > 0
            assert found.training(SCENARIO)["first_seed"] >= recipe.TRAINING_SEEDS
    assert recipe.find("scale", "dqn", None) is dqn.paper


def test_residual_resumes_as_unbroken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.learn.scale.suite.HOURS", 1)
    unbroken, broken = residual.best.start(SCENARIO, 2, 2), residual.best.start(SCENARIO, 2, 2)
    unbroken.step()
    broken.step()
    arrays, meta = broken.state()
    first = unbroken.step()
    broken._evolution.mean += 1.0
    broken._average += 1.0
    broken.restore(arrays, meta)
    assert broken.step() == first
    assert arrays_equal(unbroken.trained().arrays, broken.trained().arrays)
    assert registry.built(unbroken.trained(), "scale").name == "residual"


def test_learners_are_of_one_kind() -> None:
    assert issubclass(dqn.DqnLearner, QLearner)
    assert issubclass(q_table.TableLearner, QLearner)
