"""Place and route in one scenario: neither policy's scores or memory may reach the other's."""

from __future__ import annotations

import pytest

from trimtab import place
from trimtab.control.run import Team, build_team, run
from trimtab.policies import registry
from trimtab.policies.place.decorator import PlacePolicy
from trimtab.scenario.load import load_scenario
from trimtab.sim.placing import is_feasible
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


def _results(scenario, workload, router: str, policy: str | PlacePolicy) -> bytes:
    team = build_team(scenario, "place", "random").policies
    chosen = registry.load("place", policy) if isinstance(policy, str) else policy
    outcome = run(scenario, workload, 3, Team({**team, "place": chosen, "route": registry.load("route", router)}), "x")
    return outcome.completion.tobytes() + outcome.host.tobytes() + outcome.worker.tobytes()
