"""Traces and training of the schedulers that assign tasks."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from trimtab.control.run import build_team, run
from trimtab.control.simulated import SimulatedPlatform
from trimtab.errors import TrimtabError
from trimtab.learn.assign import graph, hosts, lstm
from trimtab.learn.assign.neighbours import neighbours
from trimtab.learn.assign.traces import at_load, collect, perturbed, played
from trimtab.policies import trained
from trimtab.policies.assign.cheap_fit import CheapFit
from trimtab.policies.assign.features import MACHINE
from trimtab.policies.assign.graf import COSTS, GraphModel
from trimtab.policies.assign.objective import expected
from trimtab.policies.assign.surrogate import HostModel
from trimtab.scenario.load import load_scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload


@pytest.fixture(scope="module")
def batch():
    return load_scenario("assign-batch")


@pytest.fixture(scope="module")
def constant():
    """Tasks that have just the work that is expected."""
    functions = [f"functions.{index}.distribution=constant" for index in range(7)]
    return load_scenario("assign-batch", functions)


def test_the_objective_is_what_the_simulator_charges_where_work_is_as_expected(constant):
    simulation = Simulation(constant, build_workload(constant, 1_000_000), 1)
    platform, policy, random = SimulatedPlatform(simulation), CheapFit(), np.random.default_rng(1)
    compared = 0
    for number in range(1, 200):
        simulation.advance(10.0 * number)
        slots, tasks, current = platform.tasks()
        if len(slots) == 0:
            continue
        hosts = platform.hosts()
        plan = policy.plan(tasks, hosts, current)
        # hosts that are still waking are taken to need all of their time, moves under way are not seen, and of a task
        # that is nearly done a tenth is taken to be left
        settled = not np.any(hosts.state == 1) and tasks.movable.all() and tasks.remaining.min() > 60.0
        if settled:
            tried = perturbed(plan, tasks, hosts, current, random)
            found = played(simulation, slots, tasks, hosts, current, tried)
            bill = expected(tasks, hosts, current, tried)
            # a host that loses all of its tasks sleeps at once, and wakes for those that come in the same plan
            kept = np.isin(found.host, tried[tried == current]) | ~np.isin(found.host, current)
            assert bill.usd[found.host][kept] == pytest.approx(found.usd[kept], rel=1e-6)
            assert bill.violations[found.host][kept].tolist() == found.violations[kept].tolist()
            # the power curve is not quite a straight line
            assert bill.kwh.sum() == pytest.approx(found.kwh.sum(), rel=0.1)
            compared += 1
        simulation.assign(slots, plan)
    assert compared >= 5


def test_traces_add_up_and_repeat(batch):
    traces = collect([batch], states=12, loads=(1.0, 2.0), plans=3)
    again = collect([batch], states=12, loads=(1.0, 2.0), plans=3)
    assert np.array_equal(traces.edge, again.edge) and np.array_equal(traces.usd, again.usd)
    assert traces.count.sum() == len(traces.edge) == len(traces.late)
    assert traces.load[:, 0].tolist() == traces.count.tolist()
    late = np.bincount(traces.owner, weights=traces.late, minlength=len(traces.first))
    assert late.tolist() == traces.violations.tolist()
    # a task is late when it ends after what it had left; a host has drained when its last task has ended
    assert np.array_equal(traces.late, traces.ended > traces.left)
    ends = np.maximum.reduceat(traces.ended, traces.first)
    assert np.all(traces.seconds <= ends + 1e-6)
    assert traces.plan.max() + 1 == 3 * (traces.state.max() + 1)


def test_traces_need_tasks_and_hosts_that_sleep(batch):
    with pytest.raises(TrimtabError, match=r"'starter', must have workload\.source = 'tasks'"):
        at_load(load_scenario("starter"), 1.0)
    awake = batch.model_copy(update={"platform": batch.platform.model_copy(update={"hibernate": False})})
    with pytest.raises(TrimtabError, match="hibernate = true"):
        at_load(awake, 1.0)


@pytest.mark.parametrize("name", ["metanet-azure100", "metanet-tight", "metanet-azure16"])
def test_a_preset_of_metanet_is_trained_on_the_whole_family(name):
    assert hosts.family(load_scenario(name)) == tuple(load_scenario(each) for each in hosts.FAMILY)


@pytest.mark.parametrize("override", ["hosts.0.price=0.05", "workload.rate=2", "platform.wake=10"])
def test_a_changed_preset_is_trained_on_itself_alone(override):
    changed = load_scenario("metanet-shift", [override])
    assert hosts.family(changed) == (changed,)
    assert hosts.GOBI.training(changed)["scenarios"] == ["metanet-shift"]


def test_the_traces_and_the_types_of_a_changed_preset_are_of_the_same_hosts():
    changed = load_scenario("metanet-azure16", ["hosts.0.price=0.05", "workload.duration=1000", "workload.rate=2"])
    learner = replace(hosts.GOBI, states=3, plans=1).start(changed, 1, 1)
    assert set(learner.data.machine[:, MACHINE.index("price")]) <= {0.05, 0.166, 0.333}
    prices = {row[2] for row in hosts.host_types(changed)}
    assert prices == {0.05, 0.166, 0.333}
    series = lstm.PAPER.start(changed, 1, 1).series
    assert [len(each) for each in series] == [100] * len(lstm.PAPER.loads)


RECIPES = {
    "gobi": replace(hosts.GOBI, states=24, plans=2, batch=64, hidden=(12, 10)),
    "gosh": replace(hosts.GOSH, states=24, plans=2, batch=64, hidden=(12, 10)),
    "graf": replace(graph.GRAF, states=24, plans=2, batch=64, hidden=(12, 10)),
}
by_policy = pytest.mark.parametrize("name", RECIPES)


@by_policy
def test_training_learns_and_goes_on_from_a_checkpoint_to_the_last_bit(batch, name):
    whole = RECIPES[name].start(batch, 3, 6)
    losses = [whole.step().figures["loss"] for _ in range(6)]
    assert losses[-1] < 0.9 * losses[0]
    first = RECIPES[name].start(batch, 3, 6)
    for _ in range(2):
        first.step()
    arrays, meta = first.state()
    second = RECIPES[name].start(batch, 3, 6)
    second.restore(arrays, json.loads(json.dumps(meta)))
    for _ in range(4):
        second.step()
    expected_arrays, found = whole.trained().arrays, second.trained().arrays
    assert expected_arrays.keys() == found.keys()
    assert all(np.array_equal(expected_arrays[key], found[key]) for key in found)


@by_policy
def test_a_trained_policy_is_written_loaded_and_runs(batch, name, tmp_path):
    learner = RECIPES[name].start(batch, 1, 2)
    learner.step()
    trained.save(tmp_path / name, learner.trained())
    short = load_scenario("assign-batch", ["workload.duration=600"])
    team = build_team(short, "assign", str(tmp_path / name))
    outcome = run(short, build_workload(short, 1), 1, team, name)
    assert outcome.meters["refused_assignments"] == 0
    assert np.all(outcome.status == 0)
    with pytest.raises(TrimtabError, match=r"has price = 0\.05, must be 0\.0472"):
        other = load_scenario("assign-batch", ["hosts.0.price=0.05"])
        run(other, build_workload(other, 1), 1, build_team(other, "assign", str(tmp_path / name)), name)


@pytest.mark.parametrize("name", ["gobi", "gosh"])
def test_serving_computes_what_training_computed(batch, name):
    learner = RECIPES[name].start(batch, 1, 2)
    learner.step()
    outputs = learner.recipe.heads
    model, rows = HostModel.of(learner.trained(), outputs), learner.data.test[:20]
    data = learner.data
    machine, load = data.machine[rows], torch.from_numpy(data.load[rows]).requires_grad_()
    mean, scale = torch.from_numpy(data.mean), torch.from_numpy(data.scale)
    inputs = (torch.cat([torch.from_numpy(machine), load], 1) - mean) / scale
    found = learner.network(inputs)
    made = model.made(machine, data.load[rows])
    assert made.outputs == pytest.approx(found.detach().numpy())
    weights = np.random.default_rng(1).normal(size=made.outputs.shape)
    (found * torch.from_numpy(weights)).sum().backward()
    assert model.slopes(made, weights) == pytest.approx(load.grad.numpy(), rel=1e-6, abs=1e-12)


def test_the_graph_serves_what_it_trained(batch):
    learner = RECIPES["graf"].start(batch, 1, 2)
    learner.step()
    model, data, rows = GraphModel.of(learner.trained()), learner.data, learner.data.test[:20]
    inputs = data.tensors(rows)
    with torch.no_grad():
        costs, lateness = learner.network(*inputs[:3])
    part = len(MACHINE)
    edges = inputs[1].numpy() * data.scale[part:] + data.mean[part:]
    messages = model.messages(edges) * inputs[2].numpy()[:, :, None]
    both = [np.concatenate([inputs[0].numpy(), heard], axis=1) for heard in (messages.sum(1), 0.0 * messages.sum(1))]
    outputs, empty = (model.network.forward(each).outputs for each in both)
    assert (outputs - empty)[:, :COSTS] == pytest.approx(costs.numpy())
    answers = outputs[:, None, COSTS:]
    late = (messages * answers[..., :-1]).sum(2) + answers[..., -1]
    assert late == pytest.approx(lateness.numpy())


def test_neighbours_have_one_task_less(batch):
    traces = collect([batch], states=20, loads=(1.0,), plans=4)
    near = neighbours(traces)
    known = near.task >= 0
    assert known.mean() > 0.3
    assert near.load[~known].tolist() == np.zeros_like(near.load[~known]).tolist()
    assert np.array_equal(traces.owner[near.task[known]], np.flatnonzero(known))
    single = traces.count == 1
    assert known[single].all()
    assert near.cost[single, 0] == pytest.approx(traces.seconds[single])
