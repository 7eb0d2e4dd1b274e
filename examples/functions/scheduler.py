"""One of MetaNet's schedulers as a function: GOBI, as trained, plans where tasks run.

args: tasks, hosts, current, as ``trimtab.control.assign_tables`` writes them; without them it plans a decision of
``size`` tasks (100) drawn with ``seed`` (1). Deploy it with --memory 512 --timeout 120: its kernels are compiled once
in each instance, while that starts.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from trimtab.control.assign_tables import as_json, from_json
from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.assign.contract import HostTable, TaskTable

LARGEST = 2_000
IN_AN_INSTANCE = __name__ == "action"

if IN_AN_INSTANCE:  # kernels are code: none is taken from a folder that others may write to
    os.environ.setdefault("TRIMTAB_CACHE", tempfile.mkdtemp(prefix="kernels-"))
policy = registry.load("assign", "gobi")


def drawn(size: int, seed: int) -> dict[str, Any]:
    """A decision of so many tasks, half of them new, on three machines of each type that GOBI knows."""
    random = np.random.default_rng(seed)
    cores, speed, price, idle, full, wake = np.tile(policy.machines.known, (3, 1)).T
    same = np.ones(len(cores))
    hosts = HostTable(
        cores=cores, speed=speed, memory=cores * 2.0**31, price=price, power_idle=idle, power_full=full,
        state=np.zeros(len(cores), np.int32), wake=float(wake[0]), delay=0.003 * same, bandwidth=625e6 * same,
        disk=60e6 * same,
    )  # fmt: skip
    tasks = TaskTable(
        request=np.arange(size, dtype=np.int32), function=np.zeros(size, np.int32),
        age=random.uniform(0.0, 100.0, size), remaining=random.uniform(100.0, 900.0, size),
        cores=random.integers(1, 3, size).astype(np.float64), memory=random.uniform(64.0, 256.0, size) * 2.0**20,
        deadline=np.full(size, 1000.0), disk=random.uniform(1e6, 5e6, size), movable=np.ones(size, np.bool_),
    )  # fmt: skip
    current = np.where(np.arange(size) % 2 == 0, random.integers(len(cores), size=size), -1).astype(np.int32)
    return as_json(tasks, hosts, current)


def main(args: dict[str, Any]) -> dict[str, Any]:
    """A host for each task."""
    if "tasks" not in args:
        size = int(args.get("size", 100))
        if not 1 <= size <= LARGEST:
            return {"error": f"size = {size}, must be 1 to {LARGEST}"}
        args = drawn(size, int(args.get("seed", 1)))
    try:
        return {"plan": policy.plan(*from_json(args)).tolist()}
    except TrimtabError as error:
        return {"error": str(error)}


if IN_AN_INSTANCE:  # compile now: it is part of the start, not of the first call's run
    main({"size": 10})
