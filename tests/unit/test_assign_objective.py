"""The schedulers' objective worked out by hand, and the columns that their networks see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.test_assign_policies import hosts_of, tasks_of

from trimtab.policies.assign.contract import HIBERNATED, ON
from trimtab.policies.assign.features import FEATURES, LOAD, MACHINE, machine_columns, planned_edges, view
from trimtab.policies.assign.objective import expected, priced


def bill(tasks, hosts, plan, current=None):
    current = np.full(len(tasks.cores), -1) if current is None else current
    return expected(tasks, hosts, np.asarray(current, np.int32), np.asarray(plan, np.int32))


def test_money_energy_and_violations_are_added_with_their_prices():
    # 2 USD + 3 kWh x 0.1 USD + 4 x 0.01 USD
    assert priced(2.0, 3.0, 4.0) == pytest.approx(2.34)


def test_a_host_is_paid_until_its_last_task_ends():
    # Two tasks that can use two cores share two: each of 100 core-seconds ends after 100 s. 3.6 USD/h = 0.001 USD/s.
    # 50 W idle, 100 W at full use: 100 W for 100 s.
    tasks, hosts = tasks_of(2, cores=2.0, deadline=[99.0, 101.0]), hosts_of(2, price=3.6)
    found = bill(tasks, hosts, [0, 0])
    assert found.seconds.tolist() == pytest.approx([100.0, 0.0])
    assert found.usd.tolist() == pytest.approx([0.1, 0.0])
    assert found.kwh[0] == pytest.approx(100 * 100 / 3.6e6)
    assert found.violations.tolist() == [1.0, 0.0]
    assert found.total == pytest.approx(0.1 + 0.1 * 100 * 100 / 3.6e6 + 0.01)


def test_what_a_capped_task_leaves_goes_to_the_others():
    # Four cores: a task of one core and one of 3.5 cores. Max-min: 1 and 3. The second of 100 core-seconds ends after
    # 33.3 s, the first after 100 s. Busy core-seconds: 200 of 400.
    tasks, hosts = tasks_of(2, cores=[1.0, 3.5]), hosts_of(1, cores=4.0, price=3.6)
    found = bill(tasks, hosts, [0, 0])
    assert found.seconds[0] == pytest.approx(100.0)
    assert found.kwh[0] == pytest.approx((50 * 100 + 50 * 200 / 4) / 3.6e6)
    late = bill(replace(tasks, deadline=np.array([99.0, 33.4])), hosts, [0, 0])
    assert late.violations[0] == 1.0


def test_waking_and_migrations_are_paid_for():
    # A sleeping host wakes in 30 s. 1 GB at 100 MB/s moves in 10 s.
    hosts = hosts_of(2, state=[ON, HIBERNATED], price=3.6)
    assert bill(tasks_of(1), hosts, [1]).seconds.tolist() == pytest.approx([0.0, 130.0])
    awake = hosts_of(2, price=3.6)
    assert bill(tasks_of(1), awake, [1], current=[0]).seconds.tolist() == pytest.approx([0.0, 110.0])


def test_loads_are_linear_in_the_plan_and_the_same_for_one_task_at_a_time():
    tasks = tasks_of(5, remaining=[10.0, 200.0, 30.0, 400.0, 50.0], cores=[1, 2, 1, 2, 2], deadline=300.0)
    hosts = hosts_of(3, cores=[2, 4, 8], state=[ON, HIBERNATED, ON], memory=16e9)
    current, plan = np.array([0, 0, 2, -1, -1], np.int32), np.array([0, 1, 2, 0, 0], np.int32)
    seen = view(tasks, hosts, current)
    one_hot = np.eye(3)[plan]
    assert np.einsum("th,thk->hk", one_hot, seen.edges) == pytest.approx(seen.loads(plan))
    assert planned_edges(tasks, hosts, current, plan) == pytest.approx(seen.edges[np.arange(5), plan])
    assert seen.machine.shape == (3, len(MACHINE)) and len(FEATURES) == len(MACHINE) + len(LOAD)


def test_columns_of_a_task_by_hand():
    # 100 core-seconds on two of four cores at double speed: 25 s alone, 12.5 s of the whole machine. 30 s to wake and
    # 10 s to move of 90 s left: 25 s of 50 s, it needs half of its cores, a quarter of the machine.
    tasks = tasks_of(1, cores=2.0, deadline=90.0)
    hosts = hosts_of(2, cores=4.0, speed=2.0, state=[ON, HIBERNATED], memory=4e9)
    row = dict(zip(LOAD, planned_edges(tasks, hosts, np.array([0], np.int32), np.array([1], np.int32))[0], strict=True))
    assert row["tasks"] == 1.0 and row["demand"] == 0.5 and row["hopeless"] == 0.0
    assert row["alone"] == pytest.approx(25 / 300) and row["work"] == pytest.approx(12.5 / 300)
    assert row["pressure"] == pytest.approx(0.5) and row["needed"] == pytest.approx(0.25)
    assert row["memory"] == pytest.approx(0.25) and row["moving"] == pytest.approx(10 / 300)
    machine = dict(zip(MACHINE, machine_columns(hosts)[1], strict=True))
    assert machine["asleep"] == 1.0 and machine["on"] == 0.0 and machine["wait"] == pytest.approx(0.1)


def test_a_task_that_is_late_even_alone_is_hopeless():
    tasks, hosts = tasks_of(1, deadline=90.0), hosts_of(1)
    row = dict(
        zip(LOAD, planned_edges(tasks, hosts, np.array([-1], np.int32), np.array([0], np.int32))[0], strict=True)
    )
    assert row["hopeless"] == 1.0 and row["pressure"] == 0.0
