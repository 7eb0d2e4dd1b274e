"""Small scenarios and workloads made directly, and a look at every event of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from trimtab.control.run import Team, build_team, decisions_of, run
from trimtab.policies import registry
from trimtab.scenario.model import Scenario
from trimtab.sim import records
from trimtab.sim.engine import advance
from trimtab.sim.outcome import Outcome
from trimtab.sim.results import collect
from trimtab.sim.simulation import Simulation
from trimtab.workload.table import Streams, Workload

MIB = 2.0**20


def scenario(
    functions: Sequence[dict[str, Any]] = ({},), hosts: Sequence[dict[str, Any]] = ({},), **changes: Any
) -> Scenario:
    """A scenario of a few lines: one core and 1 GiB a host, warm work without deadline, unless told."""
    rows = [{"name": f"f{index}", "memory": 256 * MIB} | dict(each) for index, each in enumerate(functions)]
    machines = [
        {"name": f"host{index}", "cores": 1.0, "memory": 1024 * MIB} | dict(each) for index, each in enumerate(hosts)
    ]
    given = {"name": "small", "workload": {"source": "poisson", "rate": 1.0, "duration": 1.0}} | changes
    return Scenario.model_validate(given | {"functions": rows, "hosts": machines})


def workload(
    arrival: Sequence[float] | np.ndarray,
    work: Sequence[float] | np.ndarray | float,
    function: Sequence[int] | np.ndarray | int = 0,
    names: Sequence[str] = ("f0",),
    duration: float | None = None,
    **columns: Any,
) -> Workload:
    """Requests by hand; a single number stands for all of them."""
    times = np.asarray(arrival, np.float64)
    count = len(times)
    return Workload(
        functions=tuple(names),
        arrival=times,
        function=np.broadcast_to(np.asarray(function, np.int32), count).copy(),
        work=np.broadcast_to(np.asarray(work, np.float64), count).copy(),
        duration=float(times[-1]) if duration is None else duration,
        **columns,
    )


def one_stream(arrival: Sequence[float], names: Sequence[str] = ("app",), **changes: Any) -> Workload:
    """Queries of one stream that lives from time zero on; no noise, nothing lost in transmission."""
    count = len(arrival)
    given: dict[str, float] = {
        "duration": 1e6, "rate": 1.0, "deadline": 1e6, "accuracy": 0.0, "size": 0.0, "bandwidth": 1e9, "access": 0.0,
    } | changes  # fmt: skip
    floats = {name: np.full(1, value, np.float64) for name, value in given.items()}
    zero = np.zeros(1, np.int32)
    streams = Streams(arrival=np.zeros(1), application=zero, source=zero, task=zero, **floats)
    return workload(arrival, 1.0, names=names, stream=np.zeros(count, np.int32), streams=streams, tasks=("detection",))


def simulation(world: Scenario, requests: Workload, seed: int = 1, **policies: str) -> Simulation:
    """A run that has not begun; ``place="hashing"`` and ``route="closest"`` by name."""
    chosen = {decision: registry.load(decision, name) for decision, name in policies.items()}
    if "place" not in chosen and world.platform.dispatch != "interval" and not world.variants:
        chosen["place"] = registry.load("place", "least-connections")
    if "route" not in chosen and requests.streams is not None:
        chosen["route"] = registry.load("route", "load-balancing")
    return Simulation(world, requests, seed, **chosen)


def finished(begun: Simulation) -> Outcome:
    """Run to the end and collect."""
    begun.advance(math.inf)
    begun.finish()
    return collect(begun, "under test", {}, 0.0)


def outcome(world: Scenario, requests: Workload, seed: int = 1, **policies: str) -> Outcome:
    """Run without a control loop."""
    return finished(simulation(world, requests, seed, **policies))


def controlled(
    world: Scenario, requests: Workload, decision: str, name: str, seed: int = 1, **parameters: Any
) -> Outcome:
    """Run with the control loop of the product."""
    return run(world, requests, seed, build_team(world, decision, name, parameters or None), name)


def team(world: Scenario) -> Team:
    """The default policies of a scenario."""
    first = decisions_of(world)[0]
    return build_team(world, first, world.policies.get(first, _FIRST[first]))


_FIRST = {"place": "least-connections", "route": "load-balancing", "scale": "fixed", "assign": "first-fit"}


def step(begun: Simulation) -> int:
    """One event; returns why the engine stopped (``OUT_OF_BUDGET``: there is more)."""
    while True:
        reason = advance(
            begun.core, begun.columns, begun.mind, begun._choose, begun.route_mind, begun._route, begun.fault_random,
            math.inf, 1,
        )  # fmt: skip
        if reason != records.NEEDS_ROOM:
            return int(reason)
        begun.reserve(0)


def little(done: Simulation) -> tuple[float, float]:
    """The integral of the requests in flight, and the sum of the times that they were there."""
    results, arrival = done.core.results, done.workload.arrival
    assert not np.any(results["status"] == records.FAILED)
    answered = results["status"] == records.COMPLETED
    return float(done.core.world[0]["inflight_seconds"]), math.fsum(results["completion"][answered] - arrival[answered])
