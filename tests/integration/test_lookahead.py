"""Branches of a run, played on: what they cost by hand, and that the run itself is untouched."""

from __future__ import annotations

import numpy as np
import pytest
from tests.worlds import scenario, workload

from trimtab.control.assigning import AssignLoop
from trimtab.control.lookahead import outlook, run_until
from trimtab.control.selecting import candidate_of
from trimtab.control.simulated import SimulatedPlatform
from trimtab.control.twin import imagine
from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.sim.simulation import Simulation

GIB = 2.0**30
HOST = {"cores": 1.0, "memory": 4 * GIB, "price": 3.6}


def world(deadline=None, **changes):
    return scenario(
        [{"work": 100.0, "work_deviation": 0.0, "distribution": "constant", "deadline": deadline}],
        [HOST, HOST],
        decision="assign",
        platform={"dispatch": "interval", "hibernate": True, "wake": 30.0},
        violation_price=0.5,
        **changes,
    )


class Everything:
    """All tasks on one host."""

    def __init__(self, host):
        self.name, self.host = f"on-{host}", host

    def plan(self, tasks, hosts, current):
        return np.where(current < 0, self.host, current).astype(np.int32)


def begun(place, arrivals, until=10.0):
    """A run up to the first interval."""
    simulation = Simulation(place, workload(arrivals, 100.0, duration=1000.0), 1)
    simulation.advance(until)
    return simulation


def test_a_plan_costs_what_its_host_is_paid_until_it_sleeps():
    simulation = begun(world(), [1.0])
    before = simulation.core.hosts.copy()
    # 30 s to wake and 100 s of work, at 3.6 USD an hour = 1 mUSD a second
    assert outlook(simulation, [Everything(0)]) == pytest.approx(0.130)
    assert outlook(simulation, [Everything(0), Everything(1)]) == pytest.approx(0.130)
    assert simulation.now == 10.0 and (simulation.core.hosts == before).all()


def test_arrivals_up_to_the_horizon_count_and_later_ones_do_not():
    # the second task comes at 25 s, in time for the interval at 30 s; the third after six intervals
    simulation = begun(world(), [1.0, 25.0, 80.0])
    assert outlook(simulation, [Everything(0)], horizon=6) == pytest.approx(0.030 + 0.200)
    # the first interval on one host, the rest on the other: that one is woken at 30 s, both work 100 s
    assert outlook(simulation, [Everything(0), Everything(1)], horizon=6) == pytest.approx(2 * 0.130)


def test_violations_are_priced():
    # ends 10 + 30 + 100 - 1 = 139 s after its arrival
    assert outlook(begun(world(deadline=139.5), [1.0]), [Everything(0)]) == pytest.approx(0.130)
    assert outlook(begun(world(deadline=138.5), [1.0]), [Everything(0)]) == pytest.approx(0.130 + 0.5)


def test_a_twin_knows_what_is_done_and_draws_the_rest():
    place = world()
    simulation = begun(place, [1.0, 2.0, 400.0])
    loop = AssignLoop(SimulatedPlatform(simulation), registry.load("assign", "first-fit"))
    loop.tick()
    run_until(loop, 60.0)
    truth = simulation.core.active.copy()
    twins = [imagine(simulation, 60.0, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert (simulation.core.active == truth).all()
    # constant work leaves nothing to draw but arrivals
    for twin in twins:
        assert outlook(twin, [Everything(0)], 1) > 0.0
        assert (np.diff(twin.columns.arrival) >= 0.0).all()
        assert twin.columns.arrival[2:].min(initial=np.inf) >= 60.0
        assert twin.core.world[0]["requests"] == len(twin.columns.arrival) == len(twin.core.results)
    assert twins[0].columns.arrival.tolist() == twins[1].columns.arrival.tolist()


def test_a_twin_knows_from_where_tasks_come():
    links = [{"source": source, "site": "here", "delay": delay} for source, delay in (("north", 1.0), ("south", 2.0))]
    place, arrivals = world(network={"links": links}), np.linspace(0.5, 9.5, 40)
    source = np.tile(np.array([0, 0, 0, 1], np.int32), 10)
    simulation = Simulation(place, workload(arrivals, 100.0, duration=1000.0, source=source), 1)
    simulation.advance(10.0)
    twin = imagine(simulation, 100.0, np.random.default_rng(1))
    assert len(twin.sources) == twin.core.world[0]["requests"] > 200
    assert twin.sources[:40].tolist() == source.tolist() == simulation.sources.tolist()
    # three of four as before; the deviation of the share of 400 is 0.02
    assert np.mean(twin.sources[40:] == 0) == pytest.approx(0.75, abs=0.09)
    assert outlook(twin, [Everything(0)]) > 0.0


def test_a_twin_draws_other_work_for_tasks_that_run():
    place = scenario(
        [{"work": 100.0, "work_deviation": 0.5, "distribution": "lognormal"}],
        [HOST],
        decision="assign",
        platform={"dispatch": "interval"},
    )
    simulation = Simulation(place, workload([1.0], 100.0, duration=1000.0), 1)
    simulation.advance(10.0)
    loop = AssignLoop(SimulatedPlatform(simulation), registry.load("assign", "first-fit"))
    loop.tick()
    run_until(loop, 60.0)
    ends = []
    for seed in range(200):
        twin = imagine(simulation, 0.0, np.random.default_rng(seed))
        twin.advance(10_000.0)
        ends.append(float(twin.core.results["completion"][0]))
    # 50 of its core-seconds are done: it ends later than now, at times that differ, the mean beyond 100 s of work
    assert min(ends) > 60.0
    assert len(set(ends)) == 200
    assert 100.0 < np.mean(ends) < 140.0


def test_candidates_take_parameters():
    place = world()
    assert candidate_of(place, "best-fit(margin=1.25,worth=3)").margin == 1.25
    for bad in ("best-fit(margin=x)", "best-fit(margin=1", "best-fit(margin)"):
        with pytest.raises(TrimtabError, match="must be a name, or name"):
            candidate_of(place, bad)
    with pytest.raises(TrimtabError, match="margn"):
        candidate_of(place, "best-fit(margn=1)")


class Watcher(Everything):
    """Counts the moments that it was shown."""

    def __init__(self, host):
        super().__init__(host)
        self.moments = []

    def watch(self, tasks, hosts, now):
        self.moments.append(now)


def test_a_branch_does_not_show_its_policy_the_same_moment_twice(monkeypatch):
    simulation = begun(world(), [1.0, 12.0])
    policy, kept = Watcher(0), []
    loop = AssignLoop(SimulatedPlatform(simulation), policy)
    loop.look()
    monkeypatch.setattr("trimtab.control.lookahead.copy.deepcopy", lambda each: kept.append(each) or each)
    outlook(simulation, [policy], 3)
    assert policy.moments == [10.0, 20.0, 30.0]


def test_a_task_that_never_finds_a_host_is_a_violation():
    simulation = begun(world(), [1.0])
    # the host is never up for it: 0.5 USD, and nothing else
    assert outlook(simulation, [Everything(-1)]) == pytest.approx(0.5)
