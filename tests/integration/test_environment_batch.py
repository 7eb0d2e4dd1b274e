"""Many runs in one compiled call are the single environments, step by step and bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.integration.environment_rules import fewest_inflight
from tests.worlds import scenario

from trimtab.errors import TrimtabError
from trimtab.learn.environments.batch import Batch
from trimtab.learn.environments.place import BatchedPlace, PlaceEnvironment
from trimtab.learn.environments.route import BatchedRoute, RouteEnvironment
from trimtab.learn.environments.stepped import SteppedEnvironment
from trimtab.learn.environments.vector import BatchVecEnv

SHORT = ["workload.duration=40 s", "workload.warm_up=0"]


def assert_same(batch: Batch, singles: list[SteppedEnvironment], steps: int) -> tuple[int, int]:
    """Random actions, the same in both; episodes follow each other. Returns how many ended which way."""
    random = np.random.default_rng(1)
    seen = batch.reset()
    firsts = [single.reset()[0] for single in singles]
    ended = [0, 0]
    for index, first in enumerate(firsts):
        assert_equal(seen, index, first)
    for _ in range(steps):
        actions = random.integers(batch.decision.actions, size=batch.count)
        stepped = batch.step(actions)
        for index, single in enumerate(singles):
            observation, reward, terminated, truncated, _ = single.step(actions[index])
            assert reward == stepped.rewards[index]
            assert (terminated, truncated) == (stepped.terminated[index], stepped.truncated[index])
            assert (terminated or truncated) == (index in stepped.final)
            if terminated or truncated:
                ended[truncated] += 1
                last = stepped.final[index]
                assert all(np.array_equal(last[name], values) for name, values in observation.items())
                observation, _ = single.reset()
            assert_equal(stepped.observations, index, observation)
    return ended[0], ended[1]


def assert_equal(batch: dict[str, np.ndarray], index: int, single: dict[str, np.ndarray]) -> None:
    for name, values in single.items():
        assert batch[name][index].tobytes() == values.tobytes()
        assert batch[name].dtype == values.dtype


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({"scenario": "faasrank-canada", "max_hosts": 11}, (True, False)),
        ({"scenario": "faasrank-canada", "time_limit": 20.0}, (False, True)),
        ({"scenario": "faasrank-m1", "max_decisions": 40}, (False, True)),
    ],
)
def test_a_batch_of_placements_is_the_single_ones(options: dict[str, Any], ends: tuple[bool, bool]) -> None:
    batch = BatchedPlace(count=3, seeds=range(1, 7), **options)
    singles = [PlaceEnvironment(seeds=[1 + index, 4 + index], **options) for index in range(3)]
    terminated, truncated = assert_same(batch, singles, 320)
    assert (terminated > 0, truncated > 0) == ends


def test_a_batch_of_routings_is_the_single_ones() -> None:
    batch = BatchedRoute("aset-full-edge", 2, changes=SHORT, seeds=[1, 2])
    singles = [RouteEnvironment("aset-full-edge", changes=SHORT, seeds=[seed]) for seed in (1, 2)]
    terminated, _ = assert_same(batch, singles, 100)
    assert terminated > 0


def test_runs_get_the_room_that_they_need() -> None:
    # four thousand requests at once on one host: every table has to grow several times
    world = scenario(hosts=[{"memory": "400 GiB"}, {}], workload={"source": "poisson", "rate": 4000.0, "duration": 1.0})
    batch = BatchedPlace(world, 2, seeds=[1, 2])
    batch.reset()
    simulations = list(batch.simulations)
    before = [len(each.core.active) for each in simulations]
    over = 0
    total = np.zeros(2)
    while over == 0:
        stepped = batch.step(np.zeros(2, np.int64))
        total += stepped.rewards
        over = len(stepped.final)
    assert all(len(each.core.active) > size for each, size in zip(simulations, before))
    first = next(iter(stepped.final))
    done = simulations[first]
    fct = (done.core.results["completion"] - done.workload.arrival).sum()
    assert total[first] == pytest.approx(-fct, rel=1e-9)


def test_a_batch_is_repeated_by_its_seed() -> None:
    batch = BatchedPlace("faasrank-m1", 3)
    runs = []
    for _ in range(2):
        batch.seed(5)
        seen = batch.reset()
        runs.append((seen["features"].tobytes(), [each.seed for each in batch.simulations]))
    assert runs[0] == runs[1]
    assert len(set(runs[0][1])) == 3 and min(runs[0][1]) >= 1_000_000


def test_the_vector_form_resets_by_itself_and_tells_why_an_episode_is_over() -> None:
    for limit, truncated in ((None, False), (20.0, True)):
        vector = BatchVecEnv(BatchedPlace("faasrank-canada", 2, seeds=[1, 2], time_limit=limit))
        single = PlaceEnvironment("faasrank-canada", seeds=[1], time_limit=limit)
        seen, (alone, _) = vector.reset(), single.reset()
        rewards, over = [], False
        while not over:
            actions = [fewest_inflight(features, mask) for features, mask in zip(seen["features"], seen["mask"])]
            seen, reward, done, infos = vector.step(np.array(actions))
            alone, _, terminated, cut, _ = single.step(actions[0])
            rewards.append(float(reward[0]))
            over = bool(done[0])
            assert over == (terminated or cut)
            assert infos[0]["TimeLimit.truncated"] == cut
        assert cut == truncated
        last = infos[0]["terminal_observation"]
        assert all(np.array_equal(last[name], values) for name, values in alone.items())
        assert last["mask"].any() == truncated  # after the end there is nothing to decide
        assert infos[0]["episode"]["l"] == len(rewards)
        assert infos[0]["episode"]["r"] == pytest.approx(sum(rewards), rel=1e-5)
        again, _ = single.reset()
        assert np.array_equal(seen["features"][0], again["features"])


def test_the_vector_form_offers_masks() -> None:
    vector = BatchVecEnv(BatchedPlace("faasrank-canada", 2, max_hosts=12))
    vector.reset()
    masks = np.stack(vector.env_method("action_masks"))
    assert masks.dtype == bool and masks.tolist() == [[True] * 10 + [False] * 2] * 2
    assert vector.has_attr("action_masks") and not vector.has_attr("weather")
    with pytest.raises(TrimtabError, match="must be 'action_masks'"):
        vector.env_method("fly")


def test_what_a_batch_cannot_do_is_one_line() -> None:
    with pytest.raises(TrimtabError, match="also decides scale"):
        BatchedRoute("joint-edge")
    with pytest.raises(TrimtabError, match="count = 0, must be 1 or more"):
        BatchedPlace("faasrank-canada", 0)
