"""The ant colony, the forecasts that it looks ahead with, and the policies made of both."""

from __future__ import annotations

import copy
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.test_assign_policies import hosts_of, tasks_of

from trimtab.errors import TrimtabError
from trimtab.policies.assign.arima import LONGEST, Arima, Model, fitted, invertible, residuals
from trimtab.policies.assign.arima_aco import ArimaAco
from trimtab.policies.assign.capacity import records
from trimtab.policies.assign.colony import Colony, Habits, _drawn
from trimtab.policies.assign.contract import HIBERNATED, ON
from trimtab.policies.assign.demand import Demand
from trimtab.policies.assign.lstm import Cell, Lstm
from trimtab.policies.assign.lstm_aco import LstmAco, build
from trimtab.policies.assign.objective import expected
from trimtab.policies.assign.random import Random
from trimtab.policies.trained import Description, Trained


def arrived(count, first):
    """New tasks, numbered on."""
    return replace(tasks_of(count), request=np.arange(first, first + count, dtype=np.int32))


def fresh(count):
    return np.full(count, -1, np.int32)


def fixed_cell(value):
    """A network that expects ``value`` whatever comes."""
    offset = float(np.log(np.expm1(value)))
    return Cell(np.zeros(8), np.zeros((2, 8)), np.zeros(8), np.zeros(2), offset)


def test_arima_follows_a_trend_beyond_the_last_value():
    series = Arima()
    for value in range(1, 61):
        series.add(float(value))
    # 61 + 62 + 63, where the last value three times would be 180
    assert series.ahead(3) == pytest.approx(186.0, abs=1.0)


def test_arima_begins_with_the_mean_and_is_never_negative():
    series = Arima()
    assert series.ahead(2) == 0.0
    series.add(2.0)
    series.add(4.0)
    assert series.ahead(2) == pytest.approx(6.0)
    for value in np.linspace(30.0, 0.0, 40):
        series.add(float(value))
    assert series.ahead(3) >= 0.0


def test_arima_rolls_on_between_fits():
    series = Arima()
    random = np.random.default_rng(1)
    level = 0.0
    for _ in range(60):
        level = 0.9 * level + float(random.normal())
        series.add(level + 20.0)
    fit, before = series.model, series.ahead(1)
    series.add(26.0)
    assert series.model is fit
    assert series.ahead(1) > before


def test_arima_forecasts_by_hand():
    series = Arima()
    series.model = Model(ar=(0.5,), differences=1, ma=(0.4,), mean=1.0, deviation=1.0)
    series._values.extend([10.0, 12.0, 15.0])
    series._errors.extend([0.0, 0.5])
    # changes from the mean: 1, 2; next 0.5 x 2 + 0.4 x 0.5 = 1.2, then 0.6: 15 + 2.2 = 17.2, then + 1.6
    assert series.next_values(2) == pytest.approx([17.2, 18.8])
    errors = residuals(series.model, np.array([10.0, 12.0, 15.0]))
    # first change 1 with nothing known before; then 2 - 0.5 x 1 - 0.4 x 1
    assert errors == pytest.approx([1.0, 1.1])


def test_a_moving_average_is_made_invertible():
    # 1 - 1.25 z has its root at 0.8; 1 - 0.8 z at 1.25 has the same autocorrelation.
    assert invertible((-1.25,)) == pytest.approx((-0.8,))
    assert invertible((0.5, 0.2)) == pytest.approx((0.5, 0.2))
    assert invertible(()) == ()


def test_fits_at_once_do_not_undo_each_others_filters():
    hard = [tuple(np.round(np.random.default_rng(seed).poisson(3.0, 40) * 100.0, 1)) for seed in range(12)]
    with ThreadPoolExecutor(4) as pool:
        assert all(model.deviation > 0 for model in pool.map(fitted, hard))
    assert warnings.filters[0][0] == "error"


def test_arima_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "statsforecast.models", None)
    series = Arima()
    with pytest.raises(TrimtabError, match=r"needs statsforecast: pip install 'trimtab\[train\]'"):
        for value in np.random.default_rng(77).normal(50.0, 1.0, 30):
            series.add(float(value))


def test_demand_counts_each_task_once():
    demand = Demand()
    assert demand.watch(arrived(3, 0)) == 3
    assert demand.watch(arrived(5, 0)) == 2
    assert demand.watch(tasks_of(0)) == 0


def test_demand_expects_the_recent_mix():
    demand = Demand()
    tasks = replace(tasks_of(4, remaining=[10, 20, 20, 20]), function=np.array([0, 1, 1, 1], np.int32))
    demand.watch(tasks)
    expected_tasks, applications = demand.expected(4.2)
    assert applications.tolist() == [0, 1, 1, 1]
    assert expected_tasks["remaining"].tolist() == [10, 20, 20, 20]
    assert len(demand.expected(0.4)[0]) == 0
    assert len(Demand().expected(5.0)[0]) == 0


def improve(colony, tasks, hosts, current):
    work, machines, start = records(tasks, hosts, np.asarray(current, np.int32))
    return colony.improve(work, tasks.function, tasks.movable, machines, start)


def test_pheromone_changes_what_the_ants_choose():
    costs, row, random = np.full(2, 1e-3), Habits().row()[0], np.random.default_rng(4)
    draws = random.random(200)
    shares = []
    for trail in ([1.0, 0.05], [0.05, 1.0], [0.5, 0.5]):
        hosts = [_drawn(costs, 1e-3, np.array(trail), draw, row) for draw in draws]
        shares.append(np.mean(hosts))
    # host 1 is taken in 0.05 / 1.05 = 5 %, 95 % and 50 % of the draws
    assert shares == pytest.approx([0.05, 0.95, 0.5], abs=0.08)


def test_a_dear_host_is_taken_seldom():
    row = Habits(thrift=2.0).row()[0]
    hosts = [_drawn(np.array([1.0, 2.0]), 1.0, np.ones(2), draw, row) for draw in np.linspace(0.0, 0.999, 100)]
    # weights 1 and 1 / 2^2
    assert np.mean(hosts) == pytest.approx(0.2, abs=0.02)


def test_the_best_plan_leaves_pheromone_within_limits():
    colony = Colony(Habits(), 3)
    hosts = hosts_of(3, price=[0.1, 5.0, 5.0])
    for _ in range(20):
        assert improve(colony, tasks_of(2), hosts, fresh(2)).tolist() == [0, 0]
    assert colony.pheromone[0, 0] > 0.9
    assert colony.pheromone[0, 1] < 0.3
    assert colony.pheromone.min() >= 0.05 and colony.pheromone.max() <= 1.0


def test_ants_move_a_task_only_where_that_pays():
    # Four tasks of 10,000 s share host 0; host 1 is empty and awake. A deadline of 12,000 s is missed by all.
    hosts = hosts_of(2, state=[ON, ON])
    tasks = tasks_of(4, remaining=10_000.0, deadline=12_000.0)
    found = improve(Colony(Habits(), 1), tasks, hosts, [0, 0, 0, 0])
    assert sorted(found.tolist()) == [0, 0, 1, 1]
    relaxed = improve(Colony(Habits(), 1), tasks_of(4, deadline=1e6), hosts, [0, 0, 0, 0])
    assert relaxed.tolist() == [0, 0, 0, 0]
    fixed = replace(tasks, movable=np.zeros(4, np.bool_))
    assert improve(Colony(Habits(), 1), fixed, hosts, [0, 0, 0, 0]).tolist() == [0, 0, 0, 0]


def policies():
    return [ArimaAco(), LstmAco(fixed_cell(1.0))]


@pytest.mark.parametrize("policy", policies(), ids=lambda each: each.name)
def test_beats_random_on_a_toy_case(policy):
    hosts = hosts_of(8, state=[ON, ON, *[HIBERNATED] * 6], price=[0.1, 0.1, *[1.0] * 6])
    tasks, current = tasks_of(4, deadline=300.0), fresh(4)
    policy.reset(1)
    other = Random()
    mine = expected(tasks, hosts, current, policy.plan(tasks, hosts, current)).total
    theirs = [expected(tasks, hosts, current, other.plan(tasks, hosts, current)).total for _ in range(20)]
    assert mine < 0.5 * np.mean(theirs)


@pytest.mark.parametrize("policy", policies(), ids=lambda each: each.name)
def test_reacts_to_the_state_of_hosts(policy):
    tasks = tasks_of(2, deadline=500.0)
    for awake in (0, 2):
        state = np.full(3, HIBERNATED, np.int32)
        state[awake] = ON
        policy.reset(1)
        assert policy.plan(tasks, hosts_of(3, state=state), fresh(2)).tolist() == [awake, awake]


@pytest.mark.parametrize("policy", policies(), ids=lambda each: each.name)
def test_what_is_remembered_stays_small(policy):
    policy.reset(1)
    hosts, random, first = hosts_of(4), np.random.default_rng(2), 0
    for interval in range(1000):
        tasks = arrived(int(random.poisson(1.2)), first)
        first += len(tasks.request)
        policy.watch(tasks, hosts, 10.0 * interval)
    assert policy._mind.colony.pheromone.size == 0
    forecast = policy._mind.forecast
    if isinstance(forecast, Arima):
        assert len(forecast._values) == LONGEST
    assert 0.0 < forecast.ahead(1) < 5.0


@pytest.mark.parametrize("policy", policies(), ids=lambda each: each.name)
def test_a_copy_goes_its_own_way_and_plans_the_same(policy):
    policy.reset(5)
    policy.watch(arrived(3, 0), hosts_of(4), 0.0)
    other = copy.copy(policy)
    tasks, hosts = tasks_of(5, deadline=400.0), hosts_of(4)
    assert policy.plan(tasks, hosts, fresh(5)).tolist() == other.plan(tasks, hosts, fresh(5)).tolist()
    other.watch(arrived(9, 3), hosts, 10.0)
    assert policy._mind.forecast.ahead(1) != other._mind.forecast.ahead(1) or policy.name == "lstm-aco"


def test_lstm_by_hand():
    # One hidden value; only the candidate and its gates see the input.
    cell = Cell(np.array([0.0, 0.0, 1.0, 0.0]), np.zeros((1, 4)), np.zeros(4), np.array([2.0]), 0.5)
    series = Lstm(cell)
    series.add(4.0)
    # gates 1/2 each, candidate tanh(2): cell 0.482, hidden tanh(0.482) / 2 = 0.224, softplus(2 x 0.224 + 0.5)
    hidden = 0.5 * np.tanh(0.5 * np.tanh(2.0))
    assert series.ahead(1) == pytest.approx(np.log1p(np.exp(2.0 * hidden + 0.5)))


def test_a_trained_lstm_is_checked():
    about = Description(
        decision="assign", policy="lstm-aco", recipe="paper", features=("arrivals",), settings={"hidden": 2}
    )
    arrays = {
        "inward": np.zeros(8), "recurrent": np.zeros((2, 8)), "bias": np.zeros(8), "outward": np.zeros(2),
        "offset": np.ones(1),
    }  # fmt: skip
    policy = build(Trained(about, arrays), {})
    assert policy.plan(tasks_of(1), hosts_of(1), fresh(1)).tolist() == [0]
    with pytest.raises(TrimtabError, match="'bias' have shape"):
        build(Trained(about, arrays | {"bias": np.zeros(4)}), {})
    with pytest.raises(TrimtabError, match="has no parameters"):
        build(Trained(about, arrays), {"ants": 3})
