"""Training ``place/rank``: what it draws, that it repeats and resumes, that it helps."""

from __future__ import annotations

import numpy as np
import pytest
from tests.worlds import MIB, scenario

from trimtab.errors import TrimtabError
from trimtab.learn.rank import AS_IS, CAPPED, MANY, SERIAL, RankRecipe, Run, vary
from trimtab.learn.recipe import TRAINING_SEEDS, find
from trimtab.policies.place import rank
from trimtab.scenario.load import load_scenario
from trimtab.workload.build import build_workload

TINY = RankRecipe(runs=2, pairs=2, kinds=(AS_IS, SERIAL))


def vital_and_cheap():
    """Some containers take 20 s to start, some next to nothing; the rule evicts either alike."""
    functions = [
        {"create": create, "work": 0.2, "work_deviation": 0.1, "distribution": "lognormal"}
        for create in (20.0, 0.1, 20.0, 0.1, 20.0, 0.1, 0.1, 0.1)
    ]
    return scenario(
        functions,
        [{"memory": 768 * MIB}, {"memory": 768 * MIB}],
        workload={"source": "poisson", "rate": 0.3, "duration": 300.0},
    )


def test_models_of_an_invoker_are_those_of_the_presets():
    random = np.random.default_rng(1)
    base = load_scenario("faasrank-m5")
    for kind, model in ((CAPPED, "A"), (SERIAL, "G")):
        ours, preset = vary(base, kind, random), load_scenario("faasrank-m5", (f"model={model}",))
        assert ours.platform == preset.platform
        assert ours.hosts[0].effective_cores == preset.hosts[0].effective_cores
        for one, other in zip(ours.functions, preset.functions, strict=True):
            assert one.parallelism == other.parallelism == 1.0
            assert one.work == pytest.approx(other.work, abs=0.011)  # the table is rounded


def test_runs_differ_in_load_hosts_and_mix():
    base = load_scenario("faasrank-m5")
    drawn = [vary(base, AS_IS, np.random.default_rng(number)) for number in range(20)]
    assert {each.hosts[0].count for each in drawn} == {5, 10, 15}
    assert len({each.workload.draw for each in drawn}) > 15
    load = [each.workload.calls / each.hosts[0].count / 22.6 for each in drawn]
    assert 0.59 < min(load) < 0.8
    assert 1.1 < max(load) < 1.31


def test_many_functions_do_not_all_fit_into_memory():
    drawn = vary(load_scenario("faasrank-m5"), MANY, np.random.default_rng(4))
    memory = sum(function.memory for function in drawn.functions)
    assert memory > sum(group.count * group.memory for group in drawn.hosts) / 2
    assert len(build_workload(drawn, TRAINING_SEEDS)) < 4000


def test_a_run_can_be_repeated_with_other_weights():
    base = load_scenario("faasrank-m5")
    run = Run(base, build_workload(base, TRAINING_SEEDS), TRAINING_SEEDS, AS_IS)
    other = np.full(len(rank.FEATURES), 0.3)
    first = run.mean_time(other)
    assert first != run.rule
    assert run.mean_time(np.zeros(len(rank.FEATURES))) == run.rule
    assert run.mean_time(other) == first


def test_same_seed_same_weights_and_resumed_the_same_too():
    base = load_scenario("faasrank-m2")
    whole = TINY.start(base, 5, 3)
    curve = [whole.step().reward for _ in range(3)]
    begun = TINY.start(base, 5, 3)
    begun.step()
    resumed = TINY.start(base, 5, 3)
    resumed.restore(*begun.state())
    assert [resumed.step().reward for _ in range(2)] == curve[1:]
    first, second = whole.trained(), resumed.trained()
    assert all(np.array_equal(first.arrays[name], second.arrays[name]) for name in ("weights", "limit", "shares"))
    other = TINY.start(base, 6, 3)
    other.step()
    assert not np.array_equal(other.state()[0]["mean"], begun.state()[0]["mean"])


def test_a_little_training_helps_on_seeds_that_it_never_saw():
    world = vital_and_cheap()
    learner = RankRecipe(runs=6, pairs=5, kinds=(AS_IS,)).start(world, 1, 15)
    for _ in range(15):
        learner.step()
    trained = learner.trained()
    held_out = [Run(world, build_workload(world, seed), seed, AS_IS) for seed in range(1, 21)]
    ratios = np.array([run.mean_time(trained.arrays["weights"]) / run.rule for run in held_out])
    assert ratios.mean() < 0.95
    assert rank.build(trained, {}).weights[len(rank.FEATURES)] >= 1.2


def test_the_recipe_is_found_by_name():
    recipe = find("place", "rank", None)
    assert recipe.unit == "generations"
    assert recipe.training(load_scenario("faasrank-m5"))["first_workload_seed"] == TRAINING_SEEDS


def test_only_what_is_placed_one_by_one_can_be_learned_from() -> None:
    with pytest.raises(TrimtabError, match=r"instances = 'controlled', must be 'host' and 'on-demand' to train 'rank'"):
        RankRecipe().start(load_scenario("autoscale-fibonacci", []), 1, 1)
