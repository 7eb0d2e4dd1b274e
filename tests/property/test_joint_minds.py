"""Place and route in one scenario: neither policy's scores or memory may reach the other's."""

from __future__ import annotations

import pytest

from trimtab import place
from trimtab.control.run import Team, build_team, run
from trimtab.policies import registry
from trimtab.policies.place.decorator import PlacePolicy
from trimtab.scenario.load import load_scenario
from trimtab.sim.placing import is_feasible
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload


@place("scan")
def scan(request, hosts, world, site):
    best = -1
    for index in range(len(hosts)):
        if is_feasible(world, hosts[index], request, site):
            if best == -1 or hosts[index].inflight < hosts[best].inflight:
                best = index
    return best


@pytest.mark.parametrize("router", ["shortest-delay", "random-proportional-load"])
def test_kept_scores_of_hosts_survive_routing(router: str) -> None:
    # least-connections keeps its scores from call to call; a scan of all hosts has none to lose
    scenario = load_scenario("joint-edge", ["workload.duration=60 s", "workload.warm_up=0"])
    workload = build_workload(scenario, 3)
    kept, scanned = (_results(scenario, workload, router, each) for each in ("least-connections", scan))
    assert kept == scanned


@place("least-connections-too")
def twin(request, host):
    return -host.inflight


def test_kept_scores_of_hosts_survive_that_another_policy_decided() -> None:
    # two names for one rule: whoever decides, and however often they take turns, it is the same run
    scenario = load_scenario("faasrank-canada", ["workload.duration=60 s", "workload.warm_up=0"])
    workload = build_workload(scenario, 3)
    alone, in_turn = (Simulation(scenario, workload, 3) for _ in range(2))
    policies = registry.load("place", "least-connections"), twin
    alone.switch("place", policies[0])
    for second in range(1, 62):
        in_turn.switch("place", policies[second % 2])
        in_turn.advance(float(second))
        alone.advance(float(second))
    results = alone.core.results
    assert len(results) > 100
    assert results["host"].tobytes() == in_turn.core.results["host"].tobytes()


def _results(scenario, workload, router: str, policy: str | PlacePolicy) -> bytes:
    team = build_team(scenario, "place", "random").policies
    chosen = registry.load("place", policy) if isinstance(policy, str) else policy
    outcome = run(scenario, workload, 3, Team({**team, "place": chosen, "route": registry.load("route", router)}), "x")
    return outcome.completion.tobytes() + outcome.host.tobytes() + outcome.worker.tobytes()
