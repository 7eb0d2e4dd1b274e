"""One workload twice: on the real platform and in the simulator, under the same policy, with the same work."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trimtab.control.run import build_team, run
from trimtab.live.background import running_platform
from trimtab.live.client import GatewayClient
from trimtab.live.load.plan import Plan, plan_of
from trimtab.live.load.replay import Limits, replay
from trimtab.live.load.target import target_of
from trimtab.live.urgency import urgent
from trimtab.policies import registry
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
from trimtab.workload.build import build_workload

if TYPE_CHECKING:
    import polars

_SETTLE = 0.3
"""Seconds after the last answer until the counters of servers have taken it in."""
_LIMITS = Limits(connections=1024, timeout=300.0)


@dataclass(frozen=True)
class Pair:
    """One policy on one seed, live and simulated."""

    live: Outcome
    simulated: Outcome
    calls: polars.DataFrame | None
    """Every call of the live side; None for streams, whose outcome has it all."""
    late: float
    """Seconds by which the sender was late, its 99th percentile."""


def both(scenario: Scenario, policy: str, seed: int) -> Pair:
    """Run a policy on the platform, then in the simulator."""
    if scenario.workload.source == "streams":
        return _streams(scenario, policy, seed)
    plan = plan_of(scenario, build_workload(scenario, seed))
    decision, name = registry.who(policy, scenario.decision)
    team = build_team(scenario, decision, name)
    live, calls, late = _live(scenario, plan, seed, decision, name, policy)
    return Pair(live, run(scenario, plan.workload, seed, team, policy), calls, late)


def _live(
    scenario: Scenario, plan: Plan, seed: int, decision: str, name: str, label: str
) -> tuple[Outcome, polars.DataFrame, float]:
    with running_platform(scenario, **{decision: name}) as url, GatewayClient(url) as gateway:
        before = _cpu_seconds(gateway)
        with urgent():
            log = replay(plan, target_of(url), _LIMITS)
        time.sleep(_SETTLE)
        used = _cpu_seconds(gateway) - before
    outcome = log.outcome(scenario, label, seed)
    cores = sum(group.count * (group.effective_cores or group.cores) for group in scenario.hosts)
    span = outcome.meters["makespan_s"]
    meters = {"busy_core_seconds": used, "cpu_utilisation": used / (cores * span), "cold_starts": float(log.cold.sum())}
    figures = log.figures()
    late = figures["sender_late_s"]
    assert isinstance(late, dict)
    return replace(outcome, meters=outcome.meters | meters), log.frame(), float(late["p99"])


def _cpu_seconds(gateway: GatewayClient) -> float:
    return sum(float(server["cpu_seconds"]) for server in gateway.state()["servers"])


def _streams(scenario: Scenario, policy: str, seed: int) -> Pair:
    from trimtab.live import edge

    decision, name = registry.who(policy, scenario.decision)
    with urgent():  # workers have no limit that it could undo, and together they need less than a core
        live = edge.run(scenario, policy, seed=seed).outcome
    workload = build_workload(scenario, seed)
    simulated = run(scenario, workload, seed, build_team(scenario, decision, name), policy)
    # both sides count the core-seconds of workers, over the cores of the sites
    return Pair(replace(live, policy=policy), simulated, None, 0.0)
