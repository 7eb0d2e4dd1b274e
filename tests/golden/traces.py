"""One small run for each decision, in every detail; ``python -m tests.golden.traces`` writes them anew.

Arrivals and work follow from plain arithmetic, so that nothing here depends on a random number generator.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.worlds import MIB, controlled, outcome, scenario, workload

from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
from trimtab.workload.table import Streams, Workload

FOLDER = Path(__file__).parent
WATTS = tuple(100.0 + 10.0 * point for point in range(11))
COLD = {"create": 0.3, "init": 0.2, "init_off_cpu": 0.05}
HOSTS = (
    {"cores": 2.0, "memory": 1024 * MIB, "power": WATTS, "price": 0.4},
    {"cores": 1.0, "memory": 512 * MIB, "speed": 1.5, "power": WATTS, "price": 0.3},
)


def steady(count: int, gap: float, functions: int = 1) -> Workload:
    """Requests that come in pairs, with work of five sizes."""
    numbers = np.arange(count)
    names = tuple(f"f{index}" for index in range(functions))
    work = 0.2 + 0.15 * ((7 * numbers) % 5)
    return workload((numbers // 2) * gap, work, (numbers * 5) % functions, names, duration=count * gap)


def place() -> Outcome:
    """Three functions on two hosts with little memory: cold starts, evictions, a queue, a crash, an outage."""
    world = scenario(
        [COLD, {"memory": 512 * MIB} | COLD, {"next": "f0", "deadline": 1.0} | COLD],
        HOSTS,
        platform={"keep_alive": {"seconds": 3.0}, "weights": "memory", "serial_creation": True},
        faults=[{"kind": "instance-crash", "at": 7.1}, {"kind": "host-down", "host": 0, "at": 12.2, "lasts": 3.0}],
    )
    return outcome(world, steady(60, 0.4, 3), place="round-robin")


def scale() -> Outcome:
    """A service under HPA, control period 5 s."""
    world = scenario(
        [{"cpu": 0.5, "instances": 2, "deadline": 2.0, "create": 2.0}],
        HOSTS,
        decision="scale",
        platform={"dispatch": "cluster", "instances": "controlled"},
        control={"period": 5.0},
    )
    return controlled(world, steady(160, 0.5), "scale", "hpa")


def edge() -> Scenario:
    """Two sites, one near and slow, one far and fast."""
    return scenario(
        [],
        [{"site": "near"}, {"site": "far"}],
        decision="route",
        variants=[
            {"name": "small", "accuracy": 30, "batch": {"size": 1, "base": 0.02, "each": 0.06, "deviation": 0.2}},
            {"name": "large", "accuracy": 60, "batch": {"size": 4, "base": 0.03, "each": 0.02, "deviation": 0.2}},
        ],
        workers=[{"site": "near", "variant": "small"}, {"site": "far", "variant": "large"}],
        applications=[{"name": "app", "deadline": [1, 1], "rate": [1, 1], "duration": [9, 9], "accuracy": 10}],
        platform={"dispatch": "cluster", "instances": "controlled"},
        network={
            "links": [
                {"source": "antenna", "site": "near", "delay": 0.005, "deviation": 0.001},
                {"source": "antenna", "site": "far", "delay": 0.03, "deviation": 0.004},
            ]
        },
        workload={"source": "streams", "duration": 10},
    )


def route() -> Outcome:
    """Six streams of ten queries; the accurate ones have to go far, one finds nobody."""
    count, each = 6, 10
    numbers = np.arange(count)
    zeros = np.zeros(count, np.int32)
    streams = Streams(
        arrival=0.5 * numbers,
        duration=np.full(count, 2.0),
        application=zeros,
        source=zeros,
        rate=np.full(count, 5.0),
        deadline=np.full(count, 0.25),
        accuracy=np.array([10.0, 50.0, 10.0, 50.0, 99.0, 10.0]),
        size=np.full(count, 2e4),
        bandwidth=np.full(count, 1e7),
        access=np.full(count, 0.002),
        task=zeros,
    )
    stream = np.repeat(numbers, each)
    arrival = 0.5 * stream + 0.2 * np.tile(np.arange(each), count)
    order = np.argsort(arrival, kind="stable")
    requests = workload(
        arrival[order], 1.0, names=("app",), stream=stream[order].astype(np.int32), streams=streams,
        tasks=("detection",), noise=((13.0 * np.arange(3 * count * each)) % 7 - 3.0) / 3.0,
    )  # fmt: skip
    return outcome(edge(), requests, route="load-balancing")


def assign() -> Outcome:
    """Tasks on hosts that sleep when they are idle, assigned every two seconds."""
    world = scenario(
        [{"memory": 200 * MIB, "deadline": 6.0, "parallelism": 2.0}],
        HOSTS,
        decision="assign",
        platform={"dispatch": "interval", "hibernate": True, "wake": 1.0, "hibernated_power": 4.0},
        control={"interval": 2.0},
        network={"links": [{"site": "here", "delay": 0.01}]},
    )
    return controlled(world, steady(50, 0.7), "assign", "best-fit")


RUNS: dict[str, Callable[[], Outcome]] = {"place": place, "scale": scale, "route": route, "assign": assign}


def rounded(values: Any) -> list[Any]:
    """Nine digits after the point; NaN as null."""
    return [None if np.isnan(value) else round(float(value), 9) for value in values]


def trace(done: Outcome) -> dict[str, Any]:
    """Everything about a run that must not change."""
    return {
        "start": rounded(done.start),
        "completion": rounded(done.completion),
        "host": done.host.tolist(),
        "worker": done.worker.tolist(),
        "cold": done.cold.astype(int).tolist(),
        "late": done.late.astype(int).tolist(),
        "status": done.status.tolist(),
        "meters": {name: float(f"{value:.9g}") for name, value in sorted(done.meters.items())},
    }


def main() -> None:
    """Write all of them anew."""
    for name, make in RUNS.items():
        lines = [f'"{key}": {json.dumps(value)}' for key, value in trace(make()).items()]
        (FOLDER / f"{name}.json").write_text("{" + ",\n ".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
