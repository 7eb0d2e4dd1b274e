"""Outcomes made by hand, for tests of what is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trimtab.sim.outcome import COMPLETED, FAILED, REJECTED, Outcome


def outcome(
    fct: Sequence[float] = (1.0, 2.0, 3.0),
    policy: str = "hashing",
    seed: int = 1,
    **changes: Any,
) -> Outcome:
    """A small outcome: one request a second, answered after ``fct`` seconds; NaN is a failure."""
    times = np.asarray(fct, dtype=np.float64)
    count = len(times)
    arrival = np.arange(count, dtype=np.float64)
    start = np.where(np.isnan(times), np.nan, arrival)
    columns: dict[str, Any] = {
        "functions": ("f",), "hosts": ("host-0",), "workers": (),
        "arrival": arrival, "function": np.zeros(count, np.int32),
        "completion": arrival + times, "start": start,
        "host": np.zeros(count, np.int32), "worker": np.full(count, -1, np.int32),
        "cold": np.zeros(count, bool), "late": np.zeros(count, bool),
        "status": np.where(np.isnan(times), FAILED, COMPLETED).astype(np.int8),
        "accurate": np.ones(count, bool), "meters": {}, "series": {},
        "host_time": np.empty(0), "host_utilisation": np.empty((0, 0), np.float32),
        "decisions": count, "decision_seconds": 1e-6 * count, "wall_seconds": 0.5,
        "has_deadline": False, "has_streams": False,
    }  # fmt: skip
    return Outcome(policy=policy, seed=seed, **(columns | changes))


def place(policy: str = "hashing", seed: int = 1, slow: float = 1.0, requests: int = 300) -> Outcome:
    """A run of a placement policy on ten functions and ten hosts, completion times times ``slow``."""
    random = np.random.default_rng(seed)
    arrival = np.sort(random.uniform(0, 60, requests))
    function = random.integers(0, 10, requests).astype(np.int32)
    work = random.lognormal(0, 0.5, requests) * (0.5 + function)
    own = np.random.default_rng([seed, sum(policy.encode())])
    cold = own.random(requests) < 0.2 * slow
    start = arrival + np.where(cold, 1.5, 0.0)
    completion = start + work * slow * own.uniform(0.9, 1.1, requests)
    host = own.integers(0, 10, requests).astype(np.int32)
    hosts = tuple(f"invoker-{index}" for index in range(10))
    host_time = np.linspace(1, 60, 120)
    utilisation = np.clip(own.normal(0.5, 0.2, (10, 120)) * slow, 0, 1).astype(np.float32)
    series = _series(arrival, completion, np.sort(arrival[cold]))
    return outcome(
        (), policy, seed,
        functions=("DH", "EG", "IP", "VP", "IR", "KNN", "ALU", "MS", "GD", "DV"), hosts=hosts,
        arrival=arrival, function=function, completion=completion, start=start, host=host,
        worker=np.full(requests, -1, np.int32), cold=cold, late=np.zeros(requests, bool),
        status=np.zeros(requests, np.int8), accurate=np.ones(requests, bool), series=series,
        host_time=host_time, host_utilisation=utilisation, decisions=requests,
        meters={
            "cost_usd": 0.1 * slow, "energy_kwh": 0.2 * slow, "cpu_utilisation": 0.6,
            "cpu_utilisation_active": 0.7, "mean_inflight": float(np.mean(series["inflight"])),
            "instance_seconds": 900.0 * slow, "starts_stops": 40.0, "cold_starts": float(cold.sum()),
            "makespan_s": float(completion.max()),
        },
    )  # fmt: skip


def scale(policy: str = "hpa", seed: int = 1, instances: float = 20.0, requests: int = 4000) -> Outcome:
    """A run of an autoscaler over an hour, for one function with a deadline of 500 ms."""
    random = np.random.default_rng(seed)
    arrival = np.sort(random.uniform(0, 3600, requests))
    load = 10 + 8 * np.sin(arrival / 3600 * 2 * np.pi)
    fct = random.exponential(0.1, requests) * (1 + np.maximum(load / instances, 0) ** 4)
    time = np.arange(0.0, 3600.0, 10.0)
    level = np.round(instances * (0.7 + 0.3 * np.sin(time / 3600 * 2 * np.pi)))
    late = fct > 0.5
    return outcome(
        (), policy, seed, functions=("fibonacci",), arrival=arrival,
        function=np.zeros(requests, np.int32), completion=arrival + fct, start=arrival,
        host=np.zeros(requests, np.int32), worker=np.full(requests, -1, np.int32),
        cold=np.zeros(requests, bool), late=late, status=np.zeros(requests, np.int8),
        accurate=np.ones(requests, bool), has_deadline=True, decisions=240,
        series=_series(arrival, arrival + fct, np.empty(0), time)
        | {"instances": level, "starting": np.zeros(len(time))},
        meters={
            "instance_seconds": float(level.sum() * 10), "cost_usd": float(level.sum() / 3600),
            "offered_load": 36000.0, "changes_per_hour": 30.0, "cold_starts": 0.0, "starts_stops": 30.0,
        },
    )  # fmt: skip


def route(policy: str = "closest", seed: int = 1, good: float = 0.8, requests: int = 6000) -> Outcome:
    """A run of a routing policy: four applications, ten minutes after a warm-up of two."""
    random = np.random.default_rng(seed)
    own = np.random.default_rng([seed, sum(policy.encode())])
    arrival = np.sort(random.uniform(120, 720, requests))
    function = random.integers(0, 4, requests).astype(np.int32)
    luck = own.random(requests) + 0.05 * function
    status = np.select([luck > good + 0.15, luck > good + 0.1], [REJECTED, FAILED], COMPLETED).astype(np.int8)
    fct = np.where(status == COMPLETED, own.gamma(4, 0.02, requests), np.nan)
    late = (status == COMPLETED) & (luck > good)
    accurate = (status != COMPLETED) | (own.random(requests) > 0.02)
    return outcome(
        (), policy, seed, functions=("pool", "face", "traffic", "factory"), arrival=arrival,
        hosts=("antenna", "office", "centre", "cloud"), workers=("small@antenna", "large@cloud"),
        function=function, completion=arrival + fct, start=np.where(status == COMPLETED, arrival, np.nan),
        host=np.where(status == REJECTED, -1, function).astype(np.int32),
        worker=np.where(status == REJECTED, -1, function % 2).astype(np.int32),
        cold=np.zeros(requests, bool), late=late, status=status, accurate=accurate, has_streams=True,
        series=_series(arrival, arrival + np.nan_to_num(fct), np.empty(0)), meters={"mean_inflight": 8.0},
        bands=[(120.0, "closest"), (400.0, "cheaper")] if policy == "aset" else [],
    )  # fmt: skip


def assign(policy: str = "first-fit", seed: int = 1, slow: float = 1.0) -> Outcome:
    """A run of an assignment policy: tasks with deadlines, hosts that hibernate."""
    run = place(policy, seed, slow, 200)
    late = run.fct > 8
    meters = {"cost_usd": 2.0 * slow, "energy_kwh": 3.0 * slow, "migrations": 12.0, "host_hours": 4.0}
    return outcome(
        (), policy, seed, functions=run.functions, hosts=run.hosts, arrival=run.arrival,
        function=run.function, completion=run.completion, start=run.start, host=run.host,
        worker=run.worker, cold=np.zeros(200, bool), late=late, status=run.status,
        accurate=run.accurate, meters=meters, series=run.series, has_deadline=True,
        host_time=run.host_time, host_utilisation=run.host_utilisation,
    )  # fmt: skip


PLACE = (
    "hashing", "round-robin", "least-connections", "greedy", "static-rank", "random", "power-of-two",
    "warm-first", "shortest-completion", "drain-ahead", "k8s-least", "k8s-most", "k8s-balanced",
)  # fmt: skip
"""Thirteen names, as a comparison without ``--policies`` has."""


def comparison(seeds: Sequence[int] = (1, 2, 3), policies: Sequence[str] = PLACE) -> list[Outcome]:
    """Runs of placement policies of which later ones are slower or faster by fixed steps."""
    return [
        place(policy, seed, 1.0 + 0.04 * (index % 5) - 0.05 * (index % 3))
        for seed in seeds
        for index, policy in enumerate(policies)
    ]


def _series(arrival: Any, completion: Any, cold: Any, time: Any = None) -> dict[str, Any]:
    if time is None:
        time = np.linspace(arrival.min(), completion.max(), 400)
    inflight = np.searchsorted(arrival, time) - np.searchsorted(np.sort(completion), time)
    return {
        "time": time,
        "inflight": inflight.astype(float),
        "busy_cores": np.minimum(inflight, 40).astype(float),
        "cold_starts": np.searchsorted(cold, time).astype(float),
        "power_w": 1000 + 5.0 * inflight,
    }
