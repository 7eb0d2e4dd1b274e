"""Differences between plans worked out by hand, and who is chosen by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.test_assign_policies import hosts_of, tasks_of

from trimtab.errors import TrimtabError
from trimtab.policies.assign.contract import HIBERNATED, ON
from trimtab.policies.select.bets import Bets, design
from trimtab.policies.select.contract import AssignState, Situation
from trimtab.policies.select.metanet_plus import FEATURES, NAME, MetaNetPlus, build
from trimtab.policies.select.plan_features import CONTEXT, PLAN, Comparison, context
from trimtab.policies.trained import Description, Trained

NEW = np.full(2, -1, np.int32)


def plan(*hosts):
    return np.array(hosts, np.int32)


def named(values):
    return dict(zip(PLAN, values, strict=True))


def test_waking_another_host_against_sharing_one():
    # Two tasks of 100 core-seconds on one core each; hosts of one core at 3.6 USD an hour = 1 mUSD a second.
    tasks, hosts = tasks_of(2, deadline=150.0), hosts_of(2, state=[ON, HIBERNATED], cores=1.0, price=3.6)
    found = named(Comparison(tasks, hosts, NEW, plan(0, 0)).difference(plan(0, 1)))
    # apart: 100 s + (30 s + 100 s); together: both share until 200 s
    assert found["usd"] == pytest.approx(100.0 + 130.0 - 200.0)
    assert found["hours"] == pytest.approx(30.0 / 3600.0)
    # together both end at 200 s > 150 s, apart at 100 s and 130 s
    assert found["late"] == -2.0
    assert found["wakes"] == 1.0
    assert found["wake-usd"] == pytest.approx(30.0)
    # apart the woken host is paid for 30 s in which its core does nothing
    assert found["idle-usd"] == pytest.approx(30.0)
    assert found["overcommitted"] == -1.0
    assert found["free"] == 0.0
    assert -2.0 < found["risk-low"] < found["risk"] < found["risk-high"] < 0.0


def test_moves_and_waiting_are_counted():
    tasks, hosts = tasks_of(2), hosts_of(3)
    found = named(Comparison(tasks, hosts, plan(0, 1), plan(0, 1)).difference(plan(2, -1)))
    assert found["moves"] == 1.0
    assert found["moving-seconds"] == pytest.approx(10.0)  # 1 GB at 100 MB a second
    assert found["waiting"] == 1.0


def test_the_same_plan_does_not_differ():
    tasks, hosts = tasks_of(2), hosts_of(3)
    assert not Comparison(tasks, hosts, NEW, plan(0, 1)).difference(plan(0, 1)).any()


def test_context_has_no_unit():
    tasks = replace(tasks_of(4, remaining=150.0, deadline=300.0, age=[0.0, 10.0, 100.0, 100.0]))
    hosts = hosts_of(4, state=[ON, ON, HIBERNATED, HIBERNATED], price=[1.0, 1.0, 1.0, 2.0])
    found = dict(zip(CONTEXT, context(tasks, hosts, np.array([-1, -1, 0, 0], np.int32)), strict=True))
    assert found["arrivals"] == 0.5 and found["tasks"] == 1.0
    assert found["cheap-asleep"] == pytest.approx(1 / 3)
    assert found["free"] == pytest.approx(0.5)  # two of the four cores that are awake
    assert found["minutes"] == pytest.approx(0.5)
    # left: 300, 290, 200, 200 of which each needs 150
    assert found["slack"] == pytest.approx((0.5 + 140 / 290 + 0.25 + 0.25) / 4)


def selector(weight_of_usd, caution=0.0, models=2, spread=0.0):
    """Models that look at nothing but USD, in a context of one."""
    weights = np.zeros((models, len(PLAN), len(CONTEXT)))
    # what is worked out on paper counts USD once already
    weights[:, PLAN.index("usd"), 0] = weight_of_usd - 1.0 + spread * np.linspace(-1.0, 1.0, models)
    scale = np.ones(len(PLAN))
    return MetaNetPlus(("a", "b"), "a", Bets(weights.reshape(models, -1), scale, caution))


def state(tasks, hosts, plans):
    return AssignState("a", np.zeros(0), np.ones(1), 0.0, tasks, hosts, NEW, plans)


def test_the_cheaper_plan_is_chosen_and_the_fallback_in_doubt():
    tasks, hosts = tasks_of(2), hosts_of(2, state=[ON, HIBERNATED], cores=1.0, price=3.6)
    plans = {"a": plan(0, 1), "b": plan(0, 0)}  # b is 30 mUSD cheaper
    sure = selector(1.0)
    assert sure.choose(state(tasks, hosts, plans), 0.0) == "b"
    assert sure.expected == {"a": 0.0, "b": pytest.approx(-30.0)}
    assert selector(-1.0).choose(state(tasks, hosts, plans), 0.0) == "a"
    # models that say -15 and -45 mUSD: deviation 15, so a caution of 2 leaves nothing of the gain
    assert selector(1.0, caution=1.9, spread=0.5).choose(state(tasks, hosts, plans), 0.0) == "b"
    assert selector(1.0, caution=2.1, spread=0.5).choose(state(tasks, hosts, plans), 0.0) == "a"
    same = {"a": plan(0, 1), "b": plan(0, 1)}
    assert sure.choose(state(tasks, hosts, same), 0.0) == "a"


def test_inputs_are_products():
    found = design(np.array([[2.0, 6.0]]), np.array([[1.0, 10.0]]), np.array([2.0, 3.0]))
    assert found.tolist() == [[1.0, 10.0, 2.0, 20.0]]


def folder(**settings):
    known = {"candidates": ["a", "b"], "fallback": "a", "models": 2, "caution": 1.0, "proven": True}
    known |= {"hosts": [[2.0, 1.0, 0.05, 75.0, 117.0, 30.0]], **settings}
    about = Description(decision="select", policy=NAME, recipe="best", features=FEATURES, settings=known)
    size = len(PLAN) * len(CONTEXT)
    return Trained(about, {"weights": np.zeros((2, size), np.float32), "scale": np.ones(len(PLAN), np.float32)})


def test_a_trained_one_is_checked():
    made = build(folder(), {"caution": 0.5})
    made.reset(Situation("assign", ("a", "b"), "a", (), 10.0), 1)
    assert (made.candidates, made.fallback) == (("a", "b"), "a")
    assert made.size == 4 * 2 * (2 * len(PLAN) * len(CONTEXT) + len(PLAN))
    with pytest.raises(TrimtabError, match="must be one of its candidates"):
        build(folder(fallback="c"), {})
    with pytest.raises(TrimtabError, match="proven = 1"):
        build(folder(proven=1), {})
    with pytest.raises(TrimtabError, match="weights 'weights' have shape"):
        build(folder(models=3), {})
