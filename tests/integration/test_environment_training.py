"""stable-baselines3 trains on the environments; the example of the documentation runs."""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import VecNormalize

import trimtab.learn.environments  # noqa: F401 (registers them)
from trimtab.learn.environments.place import BatchedPlace
from trimtab.learn.environments.route import BatchedRoute
from trimtab.learn.environments.vector import BatchVecEnv

SHORT = ["workload.duration=40 s", "workload.warm_up=0"]
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "policies.md"

torch.set_num_threads(1)


def weights(model: PPO | DQN) -> np.ndarray:
    return np.concatenate([each.detach().numpy().ravel() for each in model.policy.parameters()])


def test_ppo_learns_placing_on_the_vector_form_and_repeats_itself() -> None:
    found = []
    for _ in range(2):
        vector = BatchVecEnv(BatchedPlace("faasrank-canada", 4, time_limit=10.0))
        model = PPO("MultiInputPolicy", VecNormalize(vector, norm_obs=False), n_steps=64, batch_size=64, seed=3)
        before = weights(model)
        model.learn(512)
        assert model.num_timesteps == 512
        assert len(model.ep_info_buffer) > 4  # episodes came to their end and were counted
        assert np.isfinite(weights(model)).all() and not np.array_equal(before, weights(model))
        found.append(weights(model))
    assert np.array_equal(*found)


def test_dqn_learns_routing_on_the_vector_form() -> None:
    vector = BatchVecEnv(BatchedRoute("aset-full-edge", 2, changes=SHORT))
    model = DQN("MultiInputPolicy", vector, learning_starts=50, buffer_size=500, seed=1)
    before = weights(model)
    model.learn(200)
    assert not np.array_equal(before, weights(model))


def test_dqn_and_ppo_learn_on_the_registered_ones() -> None:
    select = gymnasium.make("trimtab/Select-v0", changes=SHORT, window=2.0)
    chosen = DQN("MultiInputPolicy", select, learning_starts=20, buffer_size=200, seed=1).learn(60)
    assert chosen.num_timesteps == 60
    scale = gymnasium.make("trimtab/Scale-v0", changes=["workload.duration=10 min"])
    scaled = PPO("MlpPolicy", scale, n_steps=32, batch_size=32, seed=1).learn(64)
    assert scaled.num_timesteps == 64


def test_the_example_of_the_documentation_runs() -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition("## Environments")[2]
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    example = found[1]
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    budget = re.search(r"learn\(([\d_]+)\)", example)
    assert budget is not None
    shorter = example.replace(budget[0], "learn(512)")  # the same lines, for fewer steps
    names: dict[str, object] = {}
    exec(compile(shorter, str(DOCUMENT), "exec"), names)
    actions = names["actions"]
    assert isinstance(actions, np.ndarray) and set(actions.tolist()) <= set(range(10))
