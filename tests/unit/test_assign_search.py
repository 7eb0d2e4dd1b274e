"""Local and random search on a network's costs: ``decision-nn`` and ``semi-direct``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.test_assign_gradient import by_work, machines_for
from tests.unit.test_assign_policies import hosts_of, tasks_of

from trimtab.errors import TrimtabError
from trimtab.policies.assign.contract import DOWN, ON
from trimtab.policies.assign.decision_nn import DecisionNn
from trimtab.policies.assign.random import Random
from trimtab.policies.assign.semi_direct import SemiDirect


def decision_nn(hosts, worth=0.1, spread=0.0):
    return DecisionNn(by_work(1.0, spread), machines_for(hosts), strictness=1.0, worth=worth)


def semi_direct(hosts, worth=0.1, spread=0.0):
    return SemiDirect(by_work(1.0, spread), machines_for(hosts), caution=5.0, strictness=1.0, worth=worth)


both = pytest.mark.parametrize("build", [decision_nn, semi_direct])


def fresh(count):
    return np.full(count, -1, np.int32)


@both
def test_a_new_task_goes_where_the_network_finds_it_cheapest(build):
    # Work counts in seconds of the whole machine: the host of 8 cores has the least, wherever it stands.
    for cores in ([2, 8, 4], [8, 2, 4]):
        hosts = hosts_of(3, cores=cores, memory=16e9)
        assert build(hosts).plan(tasks_of(2), hosts, fresh(2)).tolist() == [cores.index(8)] * 2


@both
def test_a_task_moves_only_where_it_pays_more_than_it_is_worth(build):
    # 37.5 s of the machine less, in units of 300 s, at 0.01 USD x 100: 0.125 USD.
    hosts, tasks, current = hosts_of(2, cores=[2, 8], memory=16e9), tasks_of(1), np.array([0], np.int32)
    assert build(hosts, worth=0.1).plan(tasks, hosts, current).tolist() == [1]
    assert build(hosts, worth=0.13).plan(tasks, hosts, current).tolist() == [0]
    assert build(hosts).plan(replace(tasks, movable=np.array([False])), hosts, current).tolist() == [0]


@both
def test_memory_lasts_and_what_fits_nowhere_waits(build):
    hosts = hosts_of(3, cores=[2, 8, 4], memory=[4e9, 1e9, 1.5e9], state=[ON, ON, DOWN])
    tasks = tasks_of(3, memory=[1e9, 1e9, 5e9])
    assert build(hosts).plan(tasks, hosts, fresh(3)).tolist() == [1, 0, -1]


@both
def test_beats_random_on_a_toy_case(build):
    hosts, tasks = hosts_of(4, cores=[2, 2, 2, 8], memory=64e9), tasks_of(6)
    plan = build(hosts).plan(tasks, hosts, fresh(6))
    power = hosts.cores
    theirs = [np.sum(100.0 / power[Random().plan(tasks, hosts, fresh(6))]) for _ in range(10)]
    assert np.sum(100.0 / power[plan]) < np.min(theirs)


def test_semi_directs_decision_changes_with_the_predicted_deviation():
    hosts = hosts_of(2, memory=16e9)
    tasks, current = tasks_of(3), np.array([0, 0, -1], np.int32)
    # deviations of 2 tasks and of 1 task: variance 4 + 1, on the first host alone 9
    unsure = semi_direct(hosts, spread=1.0, worth=10.0)
    assert unsure.plan(tasks, hosts, current).tolist() == [0, 0, 1]


def test_semi_direct_repeats_with_its_seed():
    hosts = hosts_of(6, cores=[2, 4, 8, 2, 4, 8], memory=64e9)
    policy, plans = semi_direct(hosts, worth=0.0), []
    for _ in range(2):
        policy.reset(7)
        plans.append([policy.plan(tasks_of(9), hosts, fresh(9)).tolist() for _ in range(3)])
    assert plans[0] == plans[1]


@both
def test_hosts_that_were_not_trained_for_are_refused(build):
    policy = build(hosts_of(2, cores=[2, 8]))
    with pytest.raises(TrimtabError, match="was trained for other hosts: host 1 has cores = 4"):
        policy.plan(tasks_of(1), hosts_of(2, cores=[2, 4]), fresh(1))
