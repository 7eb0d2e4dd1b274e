"""The engine beside its peers: the same arrivals and work, in the same run, one core, median of five."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

from benchmarks.peers.measure import measure
from benchmarks.peers.work import WORKS, Inputs, draw
from trimtab.policies import registry
from trimtab.policies.place.faasrank import Scorer
from trimtab.policies.place.metrics import FEATURES
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.table import Workload

_POLICY = {"a": "random", "b": "random", "c": "least-connections"}
_REPEATS = 5


def engine() -> dict[str, dict[str, float]]:
    """Simulated calls a second on the three pieces of work, CPU contention modelled."""
    return {name: _one(name) for name in WORKS}


def _one(name: str) -> dict[str, float]:
    inputs = draw(WORKS[name])
    scenario = load_scenario(f"peers-{name}")
    workload = _workload(inputs, scenario)
    ours, cold, mean = _ours(scenario, workload, _POLICY[name])
    heapq, simpy = measure("heapq", inputs), measure("simpy", inputs)
    return {
        "trimtab_per_s": round(ours),
        "heapq_per_s": round(heapq.calls_per_s),
        "simpy_per_s": round(simpy.calls_per_s),
        "trimtab_over_heapq": round(ours / heapq.calls_per_s, 2),
        "heapq_over_simpy": round(heapq.calls_per_s / simpy.calls_per_s, 2),
        "cold_starts": cold,
        "heapq_cold_starts": heapq.result.cold_starts,
        "mean_response_s": round(mean, 6),
        "heapq_mean_response_s": round(heapq.result.mean_response_s, 6),
    }


def _workload(inputs: Inputs, scenario: Scenario) -> Workload:
    arrival = np.asarray(inputs.arrivals)
    names = tuple(function.name for function in scenario.functions)
    function, work = np.asarray(inputs.functions, np.int32), np.asarray(inputs.services)
    return Workload(functions=names, arrival=arrival, function=function, work=work, duration=float(arrival[-1]))


def _ours(scenario: Scenario, workload: Workload, policy: str) -> tuple[float, int, float]:
    seconds = []
    for _ in range(_REPEATS + 1):  # the first run loads the kernels
        simulation = Simulation(scenario, workload, 1, place=registry.load("place", policy))
        began = time.perf_counter()
        simulation.advance()
        seconds.append(time.perf_counter() - began)
    results = simulation.core.results
    mean = float(np.mean(results["completion"] - workload.arrival))
    return len(workload) / statistics.median(seconds[1:]), int(results["cold"].sum()), mean


def hosts_growth() -> dict[str, float]:
    """Microseconds an invocation with hashing from 10 to 10,000 hosts, under the same load."""
    found = {}
    for hosts in (10, 100, 1_000, 10_000):
        scenario = _cluster(hosts)
        rng = np.random.default_rng(1)
        calls = 200_000
        arrival = np.cumsum(rng.exponential(1.0 / 50.0, calls))
        function = rng.integers(len(scenario.functions), size=calls).astype(np.int32)
        names = tuple(each.name for each in scenario.functions)
        workload = Workload(names, arrival, function, rng.exponential(0.3, calls), float(arrival[-1]))
        speed, _, _ = _ours(scenario, workload, "hashing")
        found[str(hosts)] = round(1e6 / speed, 4)
    return found


def _cluster(hosts: int) -> Scenario:
    return Scenario.model_validate(
        {
            "name": f"growth-{hosts}",
            "hosts": [{"name": "host", "count": hosts, "cores": 4, "memory": "16384 MiB"}],
            "functions": [{"name": f"f{index}", "create": 0.5, "work": 0.3} for index in range(100)],
            "workload": {"source": "poisson", "rate": 1.0, "duration": 1.0},
        }
    )


def own_policy_ratio() -> float:
    """Time of a policy that a user wrote over the time of the same built-in one."""
    from trimtab import place

    @place("mine")
    def mine(request, host):  # type: ignore[no-untyped-def]
        return -host.inflight

    scenario = load_scenario("peers-c")
    workload = _workload(draw(WORKS["c"]), scenario)
    speeds = []
    for policy in (mine, registry.load("place", "least-connections")):
        times = []
        for _ in range(_REPEATS + 1):
            simulation = Simulation(scenario, workload, 1, place=policy)
            began = time.perf_counter()
            simulation.advance()
            times.append(time.perf_counter() - began)
        speeds.append(statistics.median(times[1:]))
    return round(speeds[0] / speeds[1], 3)


def memory() -> dict[str, float]:
    """Peak memory of a process that simulates ten million invocations."""
    text = subprocess.run(
        [sys.executable, "-c", "from benchmarks.engine import ten_million; ten_million()"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    peak, calls = (float(part) for part in text.split())
    return {"bytes_per_request": round(peak / calls, 1), "peak_gb_10_million": round(peak / 1e9, 3)}


def ten_million() -> None:
    """Run ten million invocations and print the peak of this process, in bytes."""
    from trimtab.control.run import build_team, run
    from trimtab.workload.build import build_workload

    scenario = load_scenario("peers-a", ["workload.requests=10000000"])
    workload = build_workload(scenario, 1)
    outcome = run(scenario, workload, 1, build_team(scenario, "place", "random"), "random")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(f"{peak} {len(outcome.arrival)}\n")


def decisions() -> dict[str, float]:
    """Microseconds of one placement decision, for 10 and 1,000 hosts.

    Inside the engine, but ``faasrank_10`` and ``faasrank_1000``: its network by numpy, as a control loop asks it.
    """
    from trimtab.sim.probe import decision_seconds

    found: dict[str, Any] = {}
    for hosts in (10, 1_000):
        scenario = _cluster(hosts)
        workload = Workload(
            tuple(each.name for each in scenario.functions),
            np.zeros(1),
            np.zeros(1, np.int32),
            np.full(1, 0.3),
            1.0,
        )
        for name in ("least-connections", "hashing", "static-rank", "drain-ahead", "rank", "faasrank"):
            simulation = Simulation(scenario, workload, 1, place=registry.load("place", name))
            simulation.advance()
            label = "faasrank-engine" if name == "faasrank" else name
            found[f"{label}_{hosts}"] = round(decision_seconds(simulation) * 1e6, 3)
        found[f"faasrank_{hosts}"] = round(_by_numpy(hosts) * 1e6, 3)
    return found


def _by_numpy(hosts: int, times: int = 300) -> float:
    """Seconds of one decision of FaaSRank's network in a control loop, from metrics as measured."""
    scorer = Scorer(registry.load("place", "faasrank").weights)
    metrics = np.random.default_rng(1).random((hosts, len(FEATURES)))
    int(np.argmax(scorer(metrics)))
    began = time.perf_counter()
    for _ in range(times):
        int(np.argmax(scorer(metrics)))
    return (time.perf_counter() - began) / times
