"""Random small worlds for hypothesis: hosts, functions, platforms, faults, requests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.worlds import MIB, scenario, workload

from trimtab.scenario.model import Scenario
from trimtab.workload.table import Workload

SMALL = st.sampled_from([0.0, 0.0, 0.1, 0.25, 0.5, 1.0])
MEMORY = st.sampled_from([64, 128, 256, 300, 512])
PLACE = (
    "hashing", "round-robin", "least-connections", "greedy", "random", "power-of-two", "warm-first",
    "shortest-completion", "drain-ahead", "k8s-least", "k8s-most", "k8s-balanced", "static-rank",
)  # fmt: skip


@st.composite
def functions(draw: st.DrawFn, most: int = 3) -> list[dict[str, Any]]:
    """A few functions, some of them chained."""
    rows = []
    count = draw(st.integers(1, most))
    for index in range(count):
        rows.append(
            {
                "name": f"f{index}",
                "memory": draw(MEMORY) * MIB,
                "create": draw(SMALL),
                "init": draw(SMALL),
                "init_off_cpu": draw(SMALL),
                "off_cpu": draw(SMALL),
                "work": draw(st.sampled_from([0.1, 0.5])),
                "parallelism": draw(st.sampled_from([None, 0.5, 1.0, 2.0])),
                "cpu": draw(st.sampled_from([None, 0.5, 1.0, 1.5])),
                "concurrency": draw(st.integers(1, 3)),
                "deadline": draw(st.sampled_from([None, 0.2, 1.0])),
                "next": f"f{index + 1}" if index + 1 < count and draw(st.booleans()) else None,
                "instances": draw(st.sampled_from([None, 0, 1, 2])),
            }
        )
    return rows


@st.composite
def hosts(draw: st.DrawFn) -> list[dict[str, Any]]:
    """One to three machines, on one or two sites."""
    power = tuple(float(watts) for watts in range(50, 161, 11))[:11]
    return [
        {
            "cores": draw(st.sampled_from([0.5, 1.0, 2.0, 3.5])),
            "memory": draw(st.sampled_from([512, 700, 1024])) * MIB,
            "speed": draw(st.sampled_from([0.5, 1.0, 1.7])),
            "site": draw(st.sampled_from(["here", "there"])),
            "power": power,
            "price": 0.5,
        }
        for _ in range(draw(st.integers(1, 3)))
    ]


@st.composite
def faults(draw: st.DrawFn, machines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Up to four faults of any kind, overlapping or not, one of them at a rate."""
    sites = sorted({each["site"] for each in machines})
    rows: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["host-down", "host-down", "instance-crash", "instance-crash", "site-cut"]))
        row: dict[str, Any] = {"kind": kind, "lasts": draw(st.sampled_from([0.0, 0.5, 2.0, 20.0]))}
        if kind == "site-cut":
            row["site"] = draw(st.sampled_from(sites))
        elif kind == "host-down" and draw(st.booleans()):
            row["host"] = draw(st.integers(0, len(machines) - 1))
        if draw(st.integers(0, 3)):
            row["at"] = draw(st.sampled_from([0.0, 0.25, 1.0, 2.5, 4.0, 7.0]))
        else:
            row["rate"] = draw(st.sampled_from([0.2, 2.0]))
        rows.append(row)
    return rows


@st.composite
def requests(draw: st.DrawFn, names: list[str], most: int = 40) -> Workload:
    """Arrivals on a coarse grid, so that many things happen at one instant."""
    count = draw(st.integers(1, most))
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    arrival = np.sort(random.integers(0, draw(st.integers(1, 33)), count) * 0.25)
    grid = draw(st.booleans())
    work = random.choice([0.0, 0.25, 0.5, 1.0], count) if grid else random.exponential(0.5, count)
    return workload(arrival, work, random.integers(0, len(names), count), names, duration=float(arrival[-1]) + 1.0)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Scenario, Workload]:
    """A whole world in which requests are placed as they arrive."""
    rows, machines = draw(functions()), draw(hosts())
    dispatch = draw(st.sampled_from(["host", "cluster"]))
    controlled = dispatch == "cluster" and draw(st.booleans())
    hybrid = draw(st.booleans())
    platform = {
        "dispatch": dispatch,
        "instances": "controlled" if controlled else "on-demand",
        "cpu": draw(st.sampled_from(["sharing", "sharing", "fifo"])),
        "weights": draw(st.sampled_from(["memory", "equal"])),
        "serial_creation": draw(st.booleans()),
        "queue_limit": draw(st.sampled_from([None, None, 0, 2])),
        "keep_alive": {
            "policy": "hybrid-histogram" if hybrid else "fixed",
            "seconds": draw(st.sampled_from([0.0, 0.5, 600.0])),
        },
    }
    if dispatch == "cluster" and draw(st.integers(0, 3)) == 0:
        rows[0]["batch"] = {"size": draw(st.integers(1, 4)), "base": 0.1, "each": 0.1}
        rows[0]["concurrency"] = 1
    largest = max(each["memory"] for each in machines)
    rows = [row | {"memory": min(row["memory"], largest)} for row in rows]
    world = scenario(rows, machines, platform=platform, faults=draw(faults(machines)), control={"minimum": 0})
    return world, draw(requests([row["name"] for row in rows]))
