"""Batch tasks whose rate and mix shift, and what is left of tasks that have begun."""

from __future__ import annotations

import numpy as np
import pytest
from tests.worlds import scenario

from trimtab.scenario.model import Function
from trimtab.workload.build import build_workload
from trimtab.workload.work import draw_rest


def world(**workload):
    given = {"source": "tasks", "rate": 20.0, "interval": 10.0, "duration": 1000.0} | workload
    return scenario([{}, {}], platform={"dispatch": "interval"}, decision="assign", workload=given)


def test_the_mix_shifts_with_the_steps():
    steps = [{"at": 200.0, "rate": 40.0, "shares": {"f1": 0.0}}, {"at": 600.0, "rate": 10.0}]
    found = build_workload(world(shares={"f0": 0.0}, steps=steps), 1)
    early, late = found.arrival < 200.0, found.arrival >= 200.0
    assert set(found.function[early]) == {1} and set(found.function[late]) == {0}
    # 20, 40 and 10 tasks an interval of 10 s over 200, 400 and 400 s: 400, 1,600 and 400 on the mean
    for begin, end, expected in ((0, 200, 400), (200, 600, 1600), (600, 1000, 400)):
        count = np.count_nonzero((found.arrival >= begin) & (found.arrival < end))
        assert abs(count - expected) < 5 * expected**0.5


def test_without_shares_nothing_has_changed():
    plain, stepped = build_workload(world(), 3), build_workload(world(steps=[{"at": 500.0, "rate": 20.0}]), 3)
    assert set(plain.function) == {0, 1} and set(stepped.function) == {0, 1}


LINKS = [{"source": source, "site": "here", "delay": 0.1} for source in ("north", "south", "west")]


def gateways(links=LINKS, **workload):
    given = {"source": "tasks", "rate": 20.0, "interval": 10.0, "duration": 1000.0} | workload
    platform, network = {"dispatch": "interval"}, {"links": links}
    return scenario([{}, {}], platform=platform, decision="assign", workload=given, network=network)


def test_tasks_come_through_gateways_by_their_shares():
    found = build_workload(gateways(sources={"north": 3.0, "west": 1.0}), 1)
    count = len(found)
    assert np.bincount(found.source).sum() == count and set(found.source) == {0, 1}
    # 3 to 1: the deviation of the share is sqrt(3/16 / count)
    assert np.mean(found.source == 0) == pytest.approx(0.75, abs=4 * (3 / 16 / count) ** 0.5)
    # not told: all that links name, alike
    alike = build_workload(gateways(), 1)
    assert np.bincount(alike.source) / count == pytest.approx(1 / 3, abs=4 * (2 / 9 / count) ** 0.5)


def test_gateways_are_drawn_apart_from_all_else():
    plain, several = build_workload(world(), 5), build_workload(gateways(), 5)
    assert len(plain.source) == 0 and len(several.source) == len(several)
    for column in ("arrival", "function", "work"):
        assert np.array_equal(getattr(plain, column), getattr(several, column))
    assert not np.array_equal(several.source, build_workload(gateways(), 6).source[: len(several)])


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"sources": {"east": 1.0}}, "workload.sources = 'east', must be one of: north, south, west"),
        ({"sources": {"north": 0.0}}, "all shares are 0"),
        ({"links": [*LINKS[:1], {"source": "south", "site": "there", "delay": 0.1}]}, "'there', must be one of: here"),
    ],
)
def test_a_gateway_that_is_none(given, complaint):
    with pytest.raises(ValueError, match=complaint):
        gateways(**given)


def test_a_gateway_without_a_way_to_a_host():
    machines = [{"site": "here"}, {"site": "there"}]
    links = [LINKS[0], LINKS[1], {"source": "north", "site": "there", "delay": 0.2}]
    given = {"platform": {"dispatch": "interval"}, "decision": "assign"}
    with pytest.raises(ValueError, match="none from 'south' to 'there'"):
        scenario([{}], machines, network={"links": links}, **given)
    # a link from everywhere will do
    everywhere = {"site": "there", "delay": 0.2}
    scenario([{}], machines, network={"links": [*links[:2], everywhere]}, **given)


@pytest.mark.parametrize("kind", ["lognormal", "exponential", "uniform", "constant"])
def test_what_is_left_is_drawn_given_what_is_done(kind):
    deviation = {"exponential": 1.0, "constant": 0.0}.get(kind, 0.3)
    functions = [Function(name="f", work=10.0, work_deviation=deviation, distribution=kind)]
    random = np.random.default_rng(1)
    count, done = 20_000, 9.0
    left = draw_rest(functions, np.zeros(count, np.int32), np.full(count, done), random)
    # the same by rejection: draws of the whole that exceed what is done
    sigma = np.sqrt(np.log1p(0.09))
    whole = {
        "lognormal": 10.0 * np.exp(sigma * random.standard_normal(200_000) - sigma**2 / 2),
        "exponential": 10.0 * random.standard_exponential(200_000),
        "uniform": 10.0 * (1 + 0.3 * np.sqrt(3) * random.uniform(-1, 1, 200_000)),
        "constant": np.full(10, 10.0),
    }[kind]
    expected = whole[whole > done] - done
    assert left.min() > 0.0
    assert left.mean() == pytest.approx(expected.mean(), rel=0.03)
    assert np.quantile(left, 0.9) == pytest.approx(np.quantile(expected, 0.9), rel=0.05)


def test_a_task_that_has_not_begun_has_all_of_its_work():
    functions = [Function(name="f", work=10.0, work_deviation=0.3, distribution="lognormal")]
    left = draw_rest(functions, np.zeros(20_000, np.int32), np.zeros(20_000), np.random.default_rng(2))
    assert left.mean() == pytest.approx(10.0, rel=0.01)
    assert left.std() == pytest.approx(3.0, rel=0.03)
