"""Algorithm 1 against plain loops; repeatability; and that training helps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from tests import worlds

from trimtab.errors import TrimtabError
from trimtab.learn.faasrank import recipes
from trimtab.learn.faasrank.best import BestLearner, advantages, faded_returns
from trimtab.learn.faasrank.episode import Episode, play
from trimtab.learn.faasrank.networks import ActorCritic, flat
from trimtab.learn.faasrank.paper import Batch, PaperLearner
from trimtab.learn.recipe import RECIPES, Learner, find
from trimtab.policies.network import forward
from trimtab.policies.place import faasrank
from trimtab.policies.place.decorator import place
from trimtab.policies.place.faasrank import LAYERS
from trimtab.policies.registry import load
from trimtab.scenario.model import Scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

HOSTS = 4


def scenario(rate: float = 3.0, **changes: Any) -> Scenario:
    """Two functions whose cold starts cost as much as their work: who looks for warm containers wins."""
    functions = [
        {"memory": 256 * worlds.MIB, "work": 0.5, "init": 1.0, "create": 1.0},
        {"memory": 512 * worlds.MIB, "work": 1.0, "init": 0.5, "create": 1.0},
    ]
    machines = [{"cores": 2.0, "memory": 1024 * worlds.MIB}] * HOSTS
    workload = {"source": "poisson", "rate": rate, "duration": 20.0}
    return worlds.scenario(functions, machines, **({"workload": workload} | changes))


def paper(seed: int = 1) -> PaperLearner:
    return PaperLearner(scenario(), [scenario()], "paper", seed)


def best(seed: int = 1, budget: int = 8) -> BestLearner:
    return BestLearner(scenario(), [scenario()], "best", seed, budget)


def an_episode(learner: PaperLearner) -> Episode:
    world, requests = learner.workloads[0]
    return play(world, requests, learner.draw_seed(0), learner.weights())


def by_hand(learner: PaperLearner, episode: Episode) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-probabilities of the choices (4), returns (2) and mean baselines (5), by loops over numbers."""
    actor, critic = flat(learner.networks.actor), flat(learner.networks.critic)
    chosen, returns, baselines = [], [], []
    for decision in range(len(episode)):
        scores = [float(forward(actor, LAYERS, row.astype(float))[0, 0]) for row in episode.inputs[decision]]
        values = [float(forward(critic, LAYERS, row.astype(float))[0, 0]) for row in episode.inputs[decision]]
        total = sum(math.exp(score) for score in scores)
        chosen.append(math.log(math.exp(scores[episode.choice[decision]]) / total))
        baselines.append(sum(values) / HOSTS)
        returns.append(sum(episode.rewards[later] for later in range(decision, len(episode))))
    return np.array(chosen), np.array(returns), np.array(baselines)


@place("follow", memory=1000)
def follow(request, hosts, memory, world):  # type: ignore[no-untyped-def]
    """Each choice as it was before."""
    return int(memory[world.decisions])


def repeated(learner: PaperLearner, episode: Episode) -> np.ndarray:
    """When each request of the same choices ends, without any network."""
    world, requests = learner.workloads[0]
    run = Simulation(world, requests, 1, place=follow)
    run.mind.memory[: len(episode)] = episode.choice
    run.advance(math.inf)
    return np.array(run.core.results["completion"])


def test_rewards_are_minus_the_completion_times() -> None:
    learner = paper()
    requests, episode = learner.workloads[0][1], an_episode(learner)
    np.testing.assert_allclose(episode.time, requests.arrival)
    assert len(set(episode.choice)) == HOSTS and np.all(episode.rewards <= 0.0)
    total = float((repeated(learner, episode) - requests.arrival).sum())
    assert -episode.rewards.sum() == pytest.approx(total, rel=1e-9)
    assert episode.mean_completion == pytest.approx(total / len(requests))


def test_a_reward_is_the_time_to_the_next_action_times_the_requests_in_flight() -> None:
    learner = paper()
    requests, episode = learner.workloads[0][1], an_episode(learner)
    ends = repeated(learner, episode)
    for action in range(len(episode)):
        begin = requests.arrival[action]
        end = requests.arrival[action + 1] if action + 1 < len(episode) else math.inf  # the last one: to the end
        there = np.minimum(ends, end) - np.maximum(requests.arrival, begin)
        assert -episode.rewards[action] == pytest.approx(float(np.maximum(there, 0.0).sum()), abs=1e-9)


def test_log_probabilities_of_the_engine_are_those_of_torch() -> None:
    learner = paper()
    episode = an_episode(learner)
    inputs, feasible = torch.from_numpy(episode.inputs), torch.from_numpy(episode.feasible)
    with torch.no_grad():
        every = learner.networks.log_probabilities(inputs, feasible).numpy()
    np.testing.assert_allclose(every[np.arange(len(episode)), episode.choice], episode.log_probability, atol=1e-5)
    np.testing.assert_allclose(np.exp(every).sum(axis=1), 1.0, atol=1e-5)


def test_torch_and_numpy_scores_agree() -> None:
    networks = ActorCritic(3)
    inputs = np.random.default_rng(0).normal(size=(50, 26))
    with torch.no_grad():
        scores = networks.actor(torch.from_numpy(inputs.astype(np.float32))).numpy()
    np.testing.assert_allclose(scores, forward(flat(networks.actor), LAYERS, inputs), atol=1e-5)
    assert sum(each.numel() for each in networks.parameters()) == 2818


def test_returns_advantages_and_losses_are_the_papers() -> None:
    learner = paper()
    episode = an_episode(learner)
    batch: Batch = learner.batch(episode)
    before, returns, baselines = by_hand(learner, episode)
    np.testing.assert_allclose(batch.returns, returns, rtol=1e-5)
    np.testing.assert_allclose(batch.advantage, returns - baselines, rtol=1e-4)
    learner.update(batch)  # now the policy differs from the one that acted
    after, _, later = by_hand(learner, episode)
    objective, squared = 0.0, 0.0
    for decision in range(len(episode)):
        advantage = returns[decision] - baselines[decision]
        limit = 1.2 * advantage if advantage >= 0 else 0.8 * advantage
        objective += min(math.exp(after[decision] - before[decision]) * advantage, limit)
        squared += (later[decision] - returns[decision]) ** 2
    actor, critic = learner.losses(batch)
    assert float(actor.detach()) == pytest.approx(-objective / len(episode), rel=1e-4)
    assert float(critic.detach()) == pytest.approx(squared / len(episode), rel=1e-4)


def test_a_server_that_cannot_be_used_is_never_chosen() -> None:
    world = scenario(faults=[{"kind": "host-down", "at": 0.0, "host": 2, "lasts": 1000.0}])
    learner = PaperLearner(world, [world], "paper", 1)
    episode = play(world, learner.workloads[0][1], 1, learner.weights())
    assert not episode.feasible[:, 2].any() and episode.feasible[:, [0, 1, 3]].all()
    assert set(episode.choice) == {0, 1, 3}
    assert np.isfinite(learner.update(learner.batch(episode))).all()


@pytest.mark.parametrize("make", [paper, best])
def test_the_same_seed_gives_the_same_weights_also_after_a_restart(make: Any) -> None:
    unbroken: Learner = make()
    curve = [unbroken.step().reward for _ in range(4)]
    broken: Learner = make()
    first = [broken.step().reward for _ in range(2)]
    arrays, meta = broken.state()
    resumed: Learner = make()
    resumed.restore(arrays, meta)
    assert first + [resumed.step().reward for _ in range(2)] == curve
    for name, array in unbroken.state()[0].items():
        np.testing.assert_array_equal(array, resumed.state()[0][name], err_msg=name)
    other: Learner = make(seed=2)
    assert other.step().reward != curve[0]


def test_best_compares_episodes_at_the_same_arrival() -> None:
    learner = best()
    episodes = learner.play()
    assert len({len(each) for each in episodes}) == 1
    found = advantages(episodes)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-9)
    assert found.std() == pytest.approx(1.0)
    episode = episodes[0]
    last, sooner = len(episode) - 1, len(episode) - 2
    gap = episode.time[last] - episode.time[sooner]
    hand = episode.rewards[sooner] + math.exp(-gap / 20.0) * episode.rewards[last]
    assert faded_returns(episode)[sooner] == pytest.approx(hand)


def test_training_beats_the_random_policy() -> None:
    learner = best(budget=12)
    for _ in range(12):
        learner.step()
    policy = faasrank.build(learner.trained(), {})
    ours, rivals = [], []
    for seed in range(1, 6):
        requests = build_workload(scenario(), seed)
        for found, rule in ((ours, policy), (rivals, load("place", "random"))):
            run = Simulation(scenario(), requests, seed, place=rule)
            run.advance(math.inf)
            found.append(float((run.core.results["completion"] - requests.arrival).mean()))
    assert all(mine < other for mine, other in zip(ours, rivals, strict=True))
    assert sum(ours) < 0.75 * sum(rivals)


def test_weights_that_are_not_numbers_end_training() -> None:
    learner = paper()
    with torch.no_grad():
        next(iter(learner.networks.critic.parameters())).fill_(math.nan)
    with pytest.raises(TrimtabError, match="'faasrank' diverged"):
        learner.step()
    with torch.no_grad():
        next(iter(learner.networks.actor.parameters())).fill_(math.nan)
    with pytest.raises(TrimtabError, match="returned NaN"):
        learner.step()


def test_multi_workload_recipes_play_ten_workloads_in_turn_on_the_scenarios_own_hosts() -> None:
    assert recipes.PAPER_MULTI.budget == 50 * len(recipes.MULTI) == 500
    found = recipes.with_workloads(scenario(), recipes.MULTI)
    assert len({each.workload.model_dump_json() for each in found}) == 10
    assert all(each.hosts == scenario().hosts for each in found)
    assert recipes.PAPER_MULTI.training(scenario())["workloads"] == list(recipes.MULTI)
    assert recipes.PAPER.training(scenario())["workloads"] == ["small"]


def test_every_recipe_is_found() -> None:
    names = [recipe for decision, policy, recipe in RECIPES if (decision, policy) == ("place", "faasrank")]
    assert names == ["paper", "paper-multi", "best", "best-multi"]
    assert find("place", "faasrank", None) is recipes.PAPER
    for name in names:
        assert find("place", "faasrank", name).name == name  # type: ignore[attr-defined]


def test_scenarios_that_do_not_place_each_invocation_are_refused() -> None:
    with pytest.raises(TrimtabError, match=r"platform.dispatch = 'cluster'.*must be 'host'"):
        PaperLearner(scenario(platform={"dispatch": "cluster"}), [scenario()], "paper", 1)
