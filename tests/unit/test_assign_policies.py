"""Assign policies: plans worked out by hand, and what holds of every plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.errors import TrimtabError
from trimtab.policies.assign.arima_aco import ArimaAco
from trimtab.policies.assign.best_fit import BestFit
from trimtab.policies.assign.cheap_fit import CheapFit
from trimtab.policies.assign.contract import DOWN, HIBERNATED, ON, WAKING, HostTable, TaskTable
from trimtab.policies.assign.drain import chance_late
from trimtab.policies.assign.first_fit import FirstFit
from trimtab.policies.assign.least_loaded import LeastLoaded
from trimtab.policies.assign.random import Random
from trimtab.policies.assign.round_robin import RoundRobin

CLASSES = (Random, RoundRobin, FirstFit, BestFit, LeastLoaded, CheapFit, ArimaAco)
KEEPING = (Random, RoundRobin, FirstFit, LeastLoaded, CheapFit)
"""Those that never migrate; best-fit and arima-aco do, on purpose."""
by_name = pytest.mark.parametrize("build", CLASSES, ids=lambda build: build.name)
GIGABYTE = 1e9


def column(values, count, kind=np.float64):
    return np.broadcast_to(np.asarray(values, kind), (count,)).copy()


def tasks_of(count, *, remaining=100.0, cores=1.0, memory=GIGABYTE, deadline=np.inf, age=0.0):
    """Tasks of 100 core-seconds on one core, 1 GB, no deadline, changed as given."""
    return TaskTable(
        request=np.arange(count, dtype=np.int32),
        function=np.zeros(count, np.int32),
        age=column(age, count),
        remaining=column(remaining, count),
        cores=column(cores, count),
        memory=column(memory, count),
        deadline=column(deadline, count),
        disk=np.zeros(count),
        movable=np.ones(count, np.bool_),
    )


def hosts_of(count, *, state=ON, cores=2.0, memory=4 * GIGABYTE, price=1.0, speed=1.0, delay=0.0):
    """Awake hosts of two cores and 4 GB for 1 USD an hour that wake in 30 s, changed as given."""
    return HostTable(
        cores=column(cores, count),
        speed=column(speed, count),
        memory=column(memory, count),
        price=column(price, count),
        power_idle=column(50.0, count),
        power_full=column(100.0, count),
        state=column(state, count, np.int32),
        wake=30.0,
        delay=column(delay, count),
        bandwidth=column(1e8, count),
        disk=column(5e8, count),
    )


def plan(policy, tasks, hosts, current=None):
    if current is None:
        current = np.full(len(tasks.cores), -1)
    return policy.plan(tasks, hosts, np.asarray(current, np.int32)).tolist()


def test_round_robin_goes_round_and_remembers():
    policy = RoundRobin()
    assert plan(policy, tasks_of(4), hosts_of(3)) == [0, 1, 2, 0]
    assert plan(policy, tasks_of(1), hosts_of(3)) == [1]
    policy.reset(5)
    assert plan(policy, tasks_of(1), hosts_of(3)) == [0]


def test_round_robin_passes_those_without_memory_or_down():
    hosts = hosts_of(4, memory=[4e9, 0.5e9, 4e9, 4e9], state=[ON, ON, DOWN, ON])
    assert plan(RoundRobin(), tasks_of(4), hosts) == [0, 3, 0, 3]


def test_random_is_uniform_over_what_fits():
    hosts = hosts_of(4, memory=[1e12, 0.5e9, 1e12, 1e12], state=[ON, ON, DOWN, HIBERNATED])
    counts = np.bincount(plan(Random(), tasks_of(1000), hosts), minlength=4)
    assert counts[1] == counts[2] == 0
    assert 400 < counts[0] < 600


def test_first_fit_fills_the_cheapest_per_core_first():
    # Per core and hour: 0.5, 0.25, 0.4 USD. Host 1 has four cores, then host 2 two, then host 0.
    hosts = hosts_of(3, cores=[2, 4, 2], price=[1.0, 1.0, 0.8], memory=16e9, state=HIBERNATED)
    assert plan(FirstFit(), tasks_of(7), hosts) == [1, 1, 1, 1, 2, 2, 0]


def test_first_fit_overcommits_the_least_loaded_when_all_cores_are_taken():
    # Two hosts of 2 and 4 cores are full with 6 tasks. One more: share 2/3 against 4/5.
    hosts = hosts_of(2, cores=[2, 4], price=[1.0, 4.0], memory=16e9)
    assert plan(FirstFit(), tasks_of(7), hosts) == [0, 0, 1, 1, 1, 1, 1]


def test_least_loaded_spreads_over_the_awake_and_wakes_the_cheapest_when_they_are_full():
    hosts = hosts_of(4, state=[ON, WAKING, HIBERNATED, HIBERNATED], price=[1, 1, 1, 0.5])
    assert plan(LeastLoaded(), tasks_of(7), hosts) == [0, 1, 0, 1, 3, 3, 2]


def test_least_loaded_overcommits_when_nobody_is_left_to_wake():
    # Loads with the task: 3 of 2 cores against 4 of 4.
    assert plan(LeastLoaded(), tasks_of(1), hosts_of(2, cores=[2, 4]), None) == [1]
    current = [0, 0, 1, 1, -1]
    assert plan(LeastLoaded(), tasks_of(5), hosts_of(2), current) == [*current[:4], 0]


def plain(build):
    """The rule with no margin for work that takes longer than expected."""
    return CheapFit(margin=1.0, late_price=0.0) if build is CheapFit else BestFit(margin=1.0)


def test_cheap_fit_prolongs_a_busy_host_rather_than_wake_another():
    # Host 0 (2 cores) has two tasks of 100 s. A third: work 300 / 2 = 150 s instead of 100 s, 50 s x 1 USD/h.
    # Host 1 sleeps: 30 s to wake + 100 s = 130 s x 0.5 USD/h = 65. 50 < 65.
    hosts = hosts_of(2, state=[ON, HIBERNATED], price=[1.0, 0.5])
    assert plan(plain(CheapFit), tasks_of(3), hosts, [0, 0, -1]) == [0, 0, 0]
    # At 0.3 USD/h waking costs 130 x 0.3 = 39 < 50.
    hosts = replace(hosts, price=np.array([1.0, 0.3]))
    assert plan(plain(CheapFit), tasks_of(3), hosts, [0, 0, -1]) == [0, 0, 1]


def test_cheap_fit_wakes_when_sharing_would_be_late():
    # Third task on host 0: share 2/3, 100 / (2/3) = 150 s > 140 s. Waking: 30 + 100 = 130 s.
    hosts = hosts_of(2, state=[ON, HIBERNATED])
    assert plan(plain(CheapFit), tasks_of(3, deadline=140.0), hosts, [0, 0, -1]) == [0, 0, 1]
    # 150 s are allowed: stay.
    assert plan(plain(CheapFit), tasks_of(3, deadline=150.0), hosts, [0, 0, -1]) == [0, 0, 0]


def test_cheap_fit_does_not_make_others_late():
    # The newcomer has time, but those on host 0 need a share of 100 / 120 = 0.83 and would get 0.67.
    hosts = hosts_of(2, state=[ON, HIBERNATED])
    tasks = tasks_of(3, deadline=[120.0, 120.0, 1000.0])
    assert plan(plain(CheapFit), tasks, hosts, [0, 0, -1]) == [0, 0, 1]


def test_cheap_fit_takes_a_place_that_costs_nothing():
    # Host 1 runs 100 s anyway on one of its two cores: the newcomer of 50 s prolongs nothing.
    tasks = tasks_of(2, remaining=[100.0, 50.0])
    assert plan(plain(CheapFit), tasks, hosts_of(2, price=[0.01, 1.0]), [1, -1]) == [1, 1]


def test_cheap_fit_goes_where_it_ends_first_if_it_is_late_everywhere():
    # Alone: 100 s at speed 1, 50 s at speed 2; the deadline is 10 s.
    hosts = hosts_of(2, speed=[1.0, 2.0], price=[0.1, 9.0])
    assert plan(plain(CheapFit), tasks_of(1, deadline=10.0), hosts) == [1]


def test_network_delay_counts_both_ways():
    # 100 s + 2 x 6 s > 110 s on the cheap host.
    hosts = hosts_of(2, delay=[6.0, 0.0], price=[0.1, 1.0])
    assert plan(plain(CheapFit), tasks_of(1, deadline=110.0), hosts) == [1]
    assert plan(plain(CheapFit), tasks_of(1, deadline=112.0), hosts) == [0]


def test_best_fit_packs_onto_the_fullest_in_time():
    # Host 1 is fuller (2 of 4 against 1 of 4).
    hosts = hosts_of(2, cores=4)
    assert plan(BestFit(nearly_empty=0, margin=1.0), tasks_of(4), hosts, [0, 1, 1, -1]) == [0, 1, 1, 1]
    # Full hosts take more only while deadlines allow: 5 on 4 cores = 125 s > 120 s, so the other one.
    tasks = tasks_of(6, deadline=120.0)
    assert plan(BestFit(nearly_empty=0, margin=1.0), tasks, hosts, [0, 1, 1, 1, 1, -1]) == [0, 1, 1, 1, 1, 0]


def test_best_fit_without_deadlines_does_not_slow_anybody_down():
    assert plan(plain(BestFit), tasks_of(4), hosts_of(2)) == [0, 0, 1, 1]


def test_best_fit_wakes_the_cheapest_host_in_time():
    hosts = hosts_of(3, state=[ON, HIBERNATED, HIBERNATED], price=[1.0, 0.9, 0.2], speed=[1.0, 1.0, 0.5])
    # Full host 0 would take 150 s. Host 2 costs 0.2 / (2 x 0.5) a core, less than 0.9 / 2, but is slow:
    # 30 + 200 s; host 1 takes 30 + 100 s.
    tasks = tasks_of(3, deadline=135.0)
    assert plan(plain(BestFit), tasks, hosts, [0, 0, -1]) == [0, 0, 1]


def test_best_fit_empties_a_nearly_empty_host():
    # Host 0 is loaded 1/4, host 1 2/4: the task moves, 1 GB at 100 MB/s in 10 s.
    hosts = hosts_of(2, cores=4)
    assert plan(plain(BestFit), tasks_of(3), hosts, [0, 1, 1]) == [1, 1, 1]
    # With 115 s left, 10 s of migration and 100 s of work are in time; with 105 s they are not.
    assert plan(plain(BestFit), tasks_of(3, deadline=115.0), hosts, [0, 1, 1]) == [1, 1, 1]
    assert plan(plain(BestFit), tasks_of(3, deadline=105.0), hosts, [0, 1, 1]) == [0, 1, 1]
    # 15 s of work are not worth 2 x 10 s of migration.
    assert plan(plain(BestFit), tasks_of(3, remaining=[15.0, 100.0, 100.0]), hosts, [0, 1, 1]) == [0, 1, 1]


def test_best_fit_moves_all_or_none():
    # Both tasks of host 0 (2 of 8 cores) would have to move; host 1 has the memory for one.
    hosts = hosts_of(2, cores=8, memory=[8e9, 4e9])
    tasks = tasks_of(5)
    assert plan(plain(BestFit), tasks, hosts, [0, 0, 1, 1, 1]) == [0, 0, 1, 1, 1]
    roomy = replace(hosts, memory=np.array([8e9, 5e9]))
    assert plan(plain(BestFit), tasks, roomy, [0, 0, 1, 1, 1]) == [1, 1, 1, 1, 1]


def test_best_fit_merges_two_equally_empty_hosts_and_then_rests():
    hosts = hosts_of(2, cores=4)
    merged = plan(plain(BestFit), tasks_of(2), hosts, [0, 1])
    assert merged == [1, 1]
    assert plan(plain(BestFit), tasks_of(2), hosts, merged) == merged


def test_best_fit_parameters():
    with pytest.raises(TrimtabError, match="nearly_empty = 2, must be between 0 and 1"):
        BestFit(nearly_empty=2)
    with pytest.raises(TrimtabError, match="worth = -1, must be at least 0"):
        BestFit(worth=-1)


def test_cheap_fit_keeps_a_margin_for_work_that_takes_longer():
    # Third task on host 0: share 2/3, 150 s. 200 s are allowed: in time as expected, not with half as much again.
    hosts = hosts_of(2, state=[ON, HIBERNATED])
    tasks = tasks_of(3, deadline=200.0)
    assert plan(CheapFit(margin=1.0, late_price=0.0), tasks, hosts, [0, 0, -1]) == [0, 0, 0]
    assert plan(CheapFit(margin=1.5, late_price=0.0), tasks, hosts, [0, 0, -1]) == [0, 0, 1]


def test_cheap_fit_weighs_the_risk_of_being_late():
    # On host 0 the third task saves 80 s x 1 USD/h = 0.022 USD over waking host 1 (50 s against 130 s). Share 2/3 with
    # 300 s left: ln((100/300) / (2/3)) = -0.69, at a deviation of 0.45 a chance of 1 / (1 + exp(1.702 x 1.54)) = 6.8 %
    # for it and about as much for the tightest of the others.
    hosts = hosts_of(2, state=[ON, HIBERNATED])
    tasks = tasks_of(3, deadline=300.0)
    assert plan(CheapFit(late_price=0.1), tasks, hosts, [0, 0, -1]) == [0, 0, 0]
    assert plan(CheapFit(late_price=1.0), tasks, hosts, [0, 0, -1]) == [0, 0, 1]


def test_chance_of_being_late():
    assert chance_late(0.0, 1.0, 0.3) == 0.0
    assert chance_late(0.5, 0.5, 0.3) == pytest.approx(0.5)
    # 1 / (1 + exp(1.702 x ln 2 / 0.3)) = 1 / (1 + exp(3.932))
    assert chance_late(0.4, 0.8, 0.3) == pytest.approx(0.01922, abs=1e-4)
    assert chance_late(np.inf, 1.0, 0.3) == pytest.approx(1.0)


def test_best_fit_keeps_a_margin():
    # Three tasks on host 0 take 150 s of 200 s; with the margin of 1.75 they would not be in time.
    assert plan(BestFit(margin=1.0), tasks_of(3, deadline=200.0), hosts_of(2), [0, 0, -1]) == [0, 0, 0]
    assert plan(BestFit(), tasks_of(3, deadline=200.0), hosts_of(2), [0, 0, -1]) == [0, 0, 1]


@by_name
def test_what_fits_nowhere_waits(build):
    assert plan(build(), tasks_of(3, memory=[1e9, 5e9, 1e9]), hosts_of(1)) == [0, -1, 0]


@by_name
def test_tasks_of_a_dead_host_go_elsewhere(build):
    assert plan(build(), tasks_of(2), hosts_of(2, state=[DOWN, ON]), [0, 0]) == [1, 1]
    assert plan(build(), tasks_of(1), hosts_of(1, state=DOWN), [0]) == [-1]


@by_name
def test_nothing_to_do(build):
    assert plan(build(), tasks_of(0), hosts_of(2)) == []


@by_name
def test_overdue_tasks_are_still_placed(build):
    tasks = tasks_of(2, remaining=[-5.0, 0.0], deadline=10.0, age=50.0)
    assert -1 not in plan(build(), tasks, hosts_of(2))


@st.composite
def clusters(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    tasks, hosts = draw(st.integers(0, 40)), draw(st.integers(1, 12))
    stream = np.random.default_rng(seed)
    machines = hosts_of(
        hosts,
        state=stream.choice([ON, ON, WAKING, HIBERNATED, DOWN], hosts),
        cores=stream.choice([2.0, 4.0, 8.0], hosts),
        memory=stream.choice([4e9, 8e9], hosts),
        price=stream.uniform(0.05, 0.5, hosts),
        speed=stream.uniform(0.5, 2.0, hosts),
    )
    table = tasks_of(
        tasks,
        remaining=stream.exponential(100.0, tasks),
        cores=stream.choice([0.5, 1.0, 2.0, 4.0], tasks),
        memory=stream.uniform(0.1e9, 3e9, tasks),
        deadline=stream.choice([np.inf, 100.0, 300.0], tasks),
        age=stream.uniform(0.0, 120.0, tasks),
    )
    # What runs now is a plan itself: no host holds more than its memory.
    current = Random()
    current.reset(seed)
    placed = current.plan(table, machines, np.full(tasks, -1, np.int32))
    return table, machines, np.where(stream.random(tasks) < 0.5, placed, -1).astype(np.int32)


@by_name
@given(cluster=clusters(), seed=st.integers(0, 1000))
def test_every_plan(build, cluster, seed):
    tasks, hosts, current = cluster
    one, other = build(), build()
    one.reset(seed)
    other.reset(seed)
    before = current.copy()
    result = one.plan(tasks, hosts, current)
    assert result.dtype == np.int32
    assert np.array_equal(result, other.plan(tasks, hosts, current))
    assert np.array_equal(current, before)
    placed = result >= 0
    assert np.all(hosts.state[result[placed]] != DOWN)
    used = np.bincount(result[placed], tasks.memory[placed], len(hosts.cores))
    assert np.all(used <= hosts.memory * (1 + 1e-12))
    # A task waits only where no usable host has room for it in the finished plan.
    left = np.where(hosts.state == DOWN, -1.0, hosts.memory - used)
    for task in np.flatnonzero(~placed):
        assert tasks.memory[task] > left.max() * (1 - 1e-9)
    if build in KEEPING:
        assert np.array_equal(result[current >= 0], current[current >= 0])
