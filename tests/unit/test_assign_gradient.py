"""Searches along a gradient: derivatives confirmed by differences, and what the searches make of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.unit.test_assign_policies import hosts_of, tasks_of

from trimtab.errors import TrimtabError
from trimtab.policies.assign import descent
from trimtab.policies.assign.contract import DOWN, HIBERNATED, ON
from trimtab.policies.assign.dense import Dense
from trimtab.policies.assign.features import FEATURES, LOAD, MACHINE, view
from trimtab.policies.assign.gobi import Gobi
from trimtab.policies.assign.gosh import Gosh
from trimtab.policies.assign.graf import COSTS, MESSAGE, OUTPUTS, GraphModel, GraphSurrogate
from trimtab.policies.assign.machines import Machines, types_of
from trimtab.policies.assign.surrogate import HostModel, HostSurrogate

WORK = LOAD.index("work")


def drawn(*sizes, seed=1):
    """A network with weights drawn at random."""
    random = np.random.default_rng(seed)
    layers = [
        (random.normal(size=(wide, narrow)) / np.sqrt(wide), random.normal(size=narrow))
        for wide, narrow in pairwise(sizes)
    ]
    return Dense(tuple(layers))


def host_model(outputs=3, seed=1):
    count = len(FEATURES)
    return HostModel(
        drawn(count, 12, 9, outputs, seed=seed), np.full(count, 0.3), np.full(count, 2.0), np.ones(outputs)
    )


def graph_model(seed=1):
    message = drawn(len(LOAD), MESSAGE, seed=seed).layers[0]
    network = drawn(len(MACHINE) + MESSAGE, 10, OUTPUTS, seed=seed + 1)
    count = len(FEATURES)
    return GraphModel(np.full(count, 0.3), np.full(count, 2.0), message, network, np.ones(COSTS), 0.5)


def some_view(current=(0, 0, 1, -1, -1)):
    tasks = tasks_of(
        5, remaining=[10.0, 200.0, 90.0, 400.0, 50.0], cores=[1, 2, 1, 2, 2], deadline=[300, 250, 400, 900, 70]
    )
    hosts = hosts_of(3, cores=[2, 4, 8], state=[ON, ON, HIBERNATED], price=[1.0, 2.0, 3.0], memory=16e9)
    return view(tasks, hosts, np.array(current, np.int32))


def test_gradient_and_hessian_product_of_a_network_are_those_of_differences():
    network, random = drawn(6, 8, 7, 3), np.random.default_rng(2)
    inputs, weights, direction = random.normal(size=(4, 6)), random.normal(size=(4, 3)), random.normal(size=(4, 6))

    def value(at):
        return (network.forward(at).outputs * weights).sum()

    made, small = network.forward(inputs), 1e-5
    gradient = network.backward(made, weights)
    for row, column in np.ndindex(inputs.shape):
        nudge = np.zeros_like(inputs)
        nudge[row, column] = small
        assert gradient[row, column] == pytest.approx(
            (value(inputs + nudge) - value(inputs - nudge)) / (2 * small), rel=1e-5
        )
    ahead = network.backward(network.forward(inputs + small * direction), weights)
    behind = network.backward(network.forward(inputs - small * direction), weights)
    product = network.hessian_product(made, weights, direction)
    assert product == pytest.approx((ahead - behind) / (2 * small), rel=1e-4, abs=1e-7)


def relaxed(surrogate, matrix):
    """Means and variances at a relaxed assignment matrix."""
    loads = np.einsum("th,thk->hk", matrix, surrogate.view.edges)
    _, means, _, variances = surrogate._judged(np.arange(3), loads)
    return means.sum(), variances.sum()


@pytest.mark.parametrize("caution", [0.0, 2.0])
def test_gobi_and_gosh_move_along_the_true_gradient_of_the_matrix(caution):
    surrogate = HostSurrogate(host_model(4 if caution else 3), some_view(), caution)
    surrogate.move(np.array([3, 4], np.int32), np.array([2, 0], np.int32))
    matrix, small = np.eye(3)[surrogate.plan], 1e-6

    def value(at):
        mean, variance = relaxed(surrogate, at)
        return mean + caution * np.sqrt(variance)

    assert value(matrix) == pytest.approx(surrogate.value)
    gradient = surrogate.gradient(np.arange(5))
    for entry in np.ndindex(matrix.shape):
        nudge = np.zeros_like(matrix)
        nudge[entry] = small
        difference = (value(matrix + nudge) - value(matrix - nudge)) / (2 * small)
        assert gradient[entry] == pytest.approx(difference, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("caution", [0.0, 2.0])
def test_goshs_curvature_is_the_second_difference(caution):
    surrogate = HostSurrogate(host_model(4 if caution else 3), some_view(), caution)
    surrogate.move(np.array([3, 4], np.int32), np.array([2, 0], np.int32))
    matrix, small, per_variance = np.eye(3)[surrogate.plan], 1e-4, surrogate._per_variance

    def value(at):
        mean, variance = relaxed(surrogate, at)
        return mean + per_variance * variance

    found = surrogate.curvature(np.arange(5), np.arange(3))
    for entry in np.ndindex(matrix.shape):
        nudge = np.zeros_like(matrix)
        nudge[entry] = small
        difference = (value(matrix + nudge) - 2 * value(matrix) + value(matrix - nudge)) / small**2
        assert found[entry] == pytest.approx(difference, rel=1e-3, abs=1e-5)


def test_graf_moves_along_the_true_gradient_of_the_matrix():
    surrogate = GraphSurrogate(graph_model(), some_view())
    surrogate.move(np.array([3, 4], np.int32), np.array([2, 0], np.int32))
    model, small, hosts = surrogate.model, 1e-6, np.arange(3)

    def value(matrix):
        heard = np.einsum("th,thm->hm", matrix, surrogate.messages)
        outputs = model.network.forward(np.concatenate([surrogate._machines, heard], axis=1)).outputs
        costs = ((outputs - surrogate._empty)[:, :COSTS] * surrogate._prices).sum()
        chances = surrogate._late(surrogate.messages, outputs[None, hosts, COSTS:])
        return costs + 0.01 * (matrix * chances).sum()

    matrix = np.eye(3)[surrogate.plan]
    assert value(matrix) == pytest.approx(surrogate.value)
    gradient = surrogate.gradient(np.arange(5))
    for entry in np.ndindex(matrix.shape):
        nudge = np.zeros_like(matrix)
        nudge[entry] = small
        difference = (value(matrix + nudge) - value(matrix - nudge)) / (2 * small)
        assert gradient[entry] == pytest.approx(difference, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("build", [lambda: HostSurrogate(host_model(4), some_view(), 0.0),
                                   lambda: GraphSurrogate(graph_model(), some_view())])  # fmt: skip
def test_a_gain_is_what_the_objective_falls_by(build):
    surrogate = build()
    surrogate.move(np.array([3, 4], np.int32), np.array([2, 0], np.int32))
    before = surrogate.value
    (gain,) = surrogate.gains(np.array([1], np.int32), np.array([2], np.int32))
    surrogate.move(np.array([1], np.int32), np.array([2], np.int32))
    assert before - surrogate.value == pytest.approx(gain)
    assert surrogate.plan.tolist() == [0, 2, 1, 2, 0]


def test_an_empty_cluster_costs_nothing():
    empty = some_view(current=(-1, -1, -1, -1, -1))
    assert HostSurrogate(host_model(), empty).value == pytest.approx(0.0)
    assert GraphSurrogate(graph_model(), empty).value == pytest.approx(0.0)


def by_work(per_host, spread=0.0):
    """A model that charges a host this many USD for its work, sure of it or not by its own cores."""
    count = len(FEATURES)
    # softplus of a large number is the number itself: two such layers are linear
    first, second = np.zeros((count, 2)), np.eye(2)
    first[len(MACHINE) + WORK, 0] = per_host
    first[len(MACHINE) + WORK, 1] = spread
    last = np.zeros((2, 4))
    last[0, 2], last[1, 3] = 1.0, 1.0
    far = np.full(2, 60.0)
    layers = ((first, far), (second, np.zeros(2)), (last, np.zeros(4)))
    return HostModel(Dense(layers), np.zeros(count), np.ones(count), np.array([1.0, 1.0, 100.0, 1.0]))


def machines_for(hosts):
    return Machines("gobi", types_of(hosts))


def test_a_new_task_goes_where_the_surrogate_finds_it_cheapest():
    # Work counts in seconds of the whole machine: the host of 8 cores has the least.
    hosts = hosts_of(3, cores=[2, 8, 4], memory=16e9)
    policy = Gobi(by_work(1.0), machines_for(hosts))
    assert policy.plan(tasks_of(2), hosts, np.array([-1, -1], np.int32)).tolist() == [1, 1]


def test_goshs_decision_changes_with_the_predicted_variance():
    # Equal means; the network's deviation grows with the square of nothing but work, less so on the larger host.
    hosts = hosts_of(2, cores=[2, 2], price=[1.0, 1.0], memory=16e9, state=[ON, ON])
    tasks, current = tasks_of(3, remaining=[100.0, 100.0, 100.0]), np.array([0, 0, -1], np.int32)
    sure = Gosh(by_work(1.0, spread=0.0), machines_for(hosts), caution=5.0)
    unsure = replace(sure, model=by_work(1.0, spread=1.0))
    # A cost in proportion to work is the same everywhere, and the first host is taken. With deviations of 2 and 1
    # tasks the variance is 4 + 1, on the first alone it would be 9.
    assert sure.plan(tasks, hosts, current)[2] == 0
    assert unsure.plan(tasks, hosts, current)[2] == 1
    assert replace(unsure, caution=0.0).plan(tasks, hosts, current)[2] == 0


def test_a_task_moves_only_where_it_pays_more_than_it_is_worth():
    # On 8 cores a task of 100 core-seconds costs 12.5 s of the machine instead of 50 s: 37.5 / 300 x 0.01 USD x 100.
    hosts = hosts_of(2, cores=[2, 8], memory=16e9)
    tasks, current = tasks_of(1), np.array([0], np.int32)
    policy = Gobi(by_work(1.0), machines_for(hosts), strictness=1.0, worth=0.1)
    assert policy.plan(tasks, hosts, current).tolist() == [1]
    assert replace(policy, worth=0.13).plan(tasks, hosts, current).tolist() == [0]
    assert policy.plan(replace(tasks, movable=np.array([False])), hosts, current).tolist() == [0]


def test_memory_lasts_and_what_fits_nowhere_waits():
    hosts = hosts_of(3, cores=[2, 8, 4], memory=[4e9, 1e9, 1.5e9], state=[ON, ON, DOWN])
    policy = Gobi(by_work(1.0), machines_for(hosts))
    tasks = tasks_of(3, memory=[1e9, 1e9, 5e9])
    assert policy.plan(tasks, hosts, np.array([-1, -1, -1], np.int32)).tolist() == [1, 0, -1]


def test_room_that_is_left_in_this_interval_is_not_given_away():
    seen = some_view()
    room = descent.Room(seen)
    room.free[:] = [0.0, 0.0, 1e9]
    tasks = np.array([0, 2], np.int32)
    assert room.open(tasks).tolist() == [[True, False, True], [False, True, True]]
    room.take(0, 0, 2)
    assert room.open(tasks).tolist() == [[True, False, False], [False, True, False]]
    room.take(0, 2, 0)
    assert room.free.tolist() == [0.0, 0.0, 1e9]


def test_hosts_that_were_not_trained_for_are_refused():
    policy = Gobi(by_work(1.0), machines_for(hosts_of(2, cores=[2, 8])))
    with pytest.raises(TrimtabError, match="'gobi' was trained for other hosts: host 1 has cores = 4, must be 2"):
        policy.plan(tasks_of(1), hosts_of(2, cores=[2, 4]), np.array([-1], np.int32))
