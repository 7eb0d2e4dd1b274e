"""Training of the schedulers that search without a gradient."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from trimtab.control.run import build_team, run
from trimtab.learn.assign import decision, lstm, semi_direct
from trimtab.policies import trained
from trimtab.policies.assign.lstm import Lstm
from trimtab.policies.assign.lstm_aco import build
from trimtab.scenario.load import load_scenario
from trimtab.workload.build import build_workload

SMALL = {"states": 24, "plans": 2, "batch": 64, "hidden": (12, 10)}
RECIPES = {
    "lstm-aco": replace(lstm.PAPER, hidden=6, loads=(1.0, 2.0), length=60, batch=4),
    "decision-nn": replace(decision.PAPER, decided=16, options=3, together=4, **SMALL),
    "semi-direct": replace(semi_direct.PAPER, **SMALL),
}
by_policy = pytest.mark.parametrize("name", RECIPES)


@pytest.fixture(scope="module")
def batch():
    return load_scenario("assign-batch")


@by_policy
def test_training_learns_and_goes_on_from_a_checkpoint_to_the_last_bit(batch, name):
    whole = RECIPES[name].start(batch, 3, 6)
    losses = [whole.step().figures["loss"] for _ in range(6)]
    assert losses[-1] < losses[0]
    first = RECIPES[name].start(batch, 3, 6)
    for _ in range(2):
        first.step()
    arrays, meta = first.state()
    second = RECIPES[name].start(batch, 3, 6)
    second.restore(arrays, json.loads(json.dumps(meta)))
    for _ in range(4):
        second.step()
    wanted, found = whole.trained().arrays, second.trained().arrays
    assert wanted.keys() == found.keys()
    assert all(np.array_equal(wanted[key], found[key]) for key in found)


@by_policy
def test_a_trained_policy_is_written_loaded_and_runs(batch, name, tmp_path):
    learner = RECIPES[name].start(batch, 1, 2)
    learner.step()
    trained.save(tmp_path / name, learner.trained())
    short = load_scenario("assign-batch", ["workload.duration=600"])
    outcome = run(short, build_workload(short, 1), 1, build_team(short, "assign", str(tmp_path / name)), name)
    assert outcome.meters["refused_assignments"] == 0
    assert np.all(outcome.status == 0)


def test_decisions_lower_their_regret(batch):
    learner = RECIPES["decision-nn"].start(batch, 2, 12)
    regrets = [learner.step().figures["regret_usd"] for _ in range(12)]
    assert np.mean(regrets[-3:]) < np.mean(regrets[:3])


def test_the_lstm_serves_what_it_trained(batch):
    learner = RECIPES["lstm-aco"].start(batch, 1, 2)
    learner.step()
    counts = np.array([1.0, 0.0, 3.0, 2.0, 5.0])
    series = Lstm(build(learner.trained(), {})._cell)
    for count in counts:
        series.add(float(count))
    with torch.no_grad():
        found = learner.network(torch.from_numpy(counts)[None])[0, -1]
    assert series.ahead(1) == pytest.approx(float(found))
