"""From the engine's tables to the outcome of a run."""

from __future__ import annotations

import numpy as np

from trimtab.sim import records
from trimtab.sim.meters import meter_all
from trimtab.sim.outcome import Outcome
from trimtab.sim.simulation import Simulation


def readings(simulation: Simulation) -> dict[str, float]:
    """Every meter as it stands now."""
    core = simulation.core
    meter_all(core)
    world, hosts = core.world[0], core.hosts
    return {
        "time": float(world["now"]),
        "busy": float(hosts["busy_seconds"].sum()),
        "energy": float(hosts["energy"].sum()),
        "on": float((hosts["on_seconds"] * hosts["price"]).sum()),
        "on_seconds": float(hosts["on_seconds"].sum()),
        "active": float((hosts["active_seconds"] * hosts["cores"]).sum()),
        "inflight": float(world["inflight_seconds"]),
        "instances": float(world["instance_seconds"]),
        "idle": float(world["idle_seconds"]),
        "starts_stops": float(world["starts"] + world["stops"]),
        "cold_starts": float(world["cold_starts"]),
        "evictions": float(world["evictions"]),
    }


def meters(simulation: Simulation, before: dict[str, float], violations: int) -> dict[str, float]:
    """Figures of the run after its warm-up, in the units of the summary."""
    now = readings(simulation)
    used = {name: value - before.get(name, 0.0) for name, value in now.items()}
    span = max(used["time"], 1e-12)
    scenario, hosts = simulation.scenario, simulation.core.hosts
    controlled = scenario.platform.instances == "controlled"
    found = {
        "makespan_s": span,
        "busy_core_seconds": used["busy"],
        "cpu_utilisation": used["busy"] / (float(hosts["cores"].sum()) * span),
        "mean_inflight": used["inflight"] / span,
    }
    if used["active"] > 0.0:
        found["cpu_utilisation_active"] = min(used["busy"] / used["active"], 1.0)
    if scenario.platform.dispatch != "interval":
        found["instance_seconds"] = used["instances"]
        found["starts_stops"] = used["starts_stops"]
    if scenario.platform.dispatch != "interval" and not controlled:
        found["cold_starts"] = used["cold_starts"]
        found["evictions"] = used["evictions"]
        found["idle_instance_seconds"] = used["idle"]
    if any(group.price is not None for group in scenario.hosts):
        found["host_hours"] = used["on_seconds"] / 3600.0
        found["hosts_usd"] = used["on"] / 3600.0
        found["violations_usd"] = scenario.violation_price * violations
        found["cost_usd"] = found["hosts_usd"] + found["violations_usd"]
    if any(group.power for group in scenario.hosts):
        found["energy_kwh"] = used["energy"] / 3.6e6
    if simulation.workload.streams is None:
        found["offered_load"] = _offered(simulation)
    if scenario.platform.dispatch == "interval":
        found["work_done"] = _done(simulation)
    return found


def _done(simulation: Simulation) -> float:
    """Core-seconds of the tasks that ended."""
    workload = simulation.workload
    ended = simulation.core.results["status"] == records.COMPLETED
    return float(workload.work[ended & (workload.arrival >= workload.warm_up)].sum())


def _offered(simulation: Simulation) -> float:
    """Core-seconds of all requests, later stages of chains at their mean."""
    workload, functions = simulation.workload, simulation.core.functions
    kept = workload.arrival >= workload.warm_up
    total = float(workload.work[kept].sum())
    counts = np.bincount(workload.function[kept], minlength=len(functions))
    for index, count in enumerate(counts):
        following = int(functions["next"][index])
        while following != records.NONE:
            total += int(count) * float(functions["work"][following])
            following = int(functions["next"][following])
    return total


def collect(simulation: Simulation, label: str, before: dict[str, float], wall: float) -> Outcome:
    """The outcome: requests that arrived after the warm-up, series, meters."""
    workload, results, world = simulation.workload, simulation.core.results, simulation.core.world[0]
    kept = slice(int(np.searchsorted(workload.arrival, workload.warm_up)), None)
    rows = results[kept]
    status = rows["status"].astype(np.int8)
    status[status == records.PENDING] = records.FAILED
    late = rows["late"].astype(bool)
    function = workload.function[kept]
    if workload.streams is not None:
        function = workload.streams.application[workload.stream[kept]]
    violations = int(late.sum() + (status != records.COMPLETED).sum())
    samples = int(world["sample_row"])
    series = simulation.columns.series[:samples]
    return Outcome(
        policy=label,
        seed=simulation.seed,
        functions=workload.functions,
        hosts=simulation.host_names(),
        workers=tuple(row.name for row in simulation.deployed) if workload.streams is not None else (),
        arrival=workload.arrival[kept],
        function=function,
        completion=rows["completion"],
        start=rows["start"],
        host=rows["host"],
        worker=rows["worker"],
        cold=rows["cold"].astype(bool),
        late=late,
        status=status,
        accurate=rows["accurate"].astype(bool),
        meters=meters(simulation, before, violations),
        series={name: series[:, index].copy() for index, name in enumerate(records.SERIES)},
        host_time=series[:, 0].copy(),
        host_utilisation=simulation.columns.rows[:, :samples].copy(),
        decisions=int(world["decisions"]),
        decision_seconds=0.0,
        wall_seconds=wall,
        has_deadline=bool(np.isfinite(simulation.core.functions["deadline"]).any()),
        has_streams=workload.streams is not None,
    )
