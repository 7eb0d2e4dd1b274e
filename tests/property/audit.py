"""Recounts the whole world from its tables, and compares with every counter that the engine keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.sim import records
from trimtab.sim.simulation import Simulation

SLACK = 1e-9


def check(run: Simulation) -> None:
    """Everything that must hold between any two events."""
    used = ~_free(run.core.active, int(run.core.world[0]["free_request"]))
    _requests(run)
    _hosts(run, used)
    _instances(run)
    _places(run, used)
    _lists(run, used)
    _no_negatives(run)


def _same(what: str, kept: Any, counted: Any) -> None:
    assert np.array_equal(kept, counted), f"{what}: the engine keeps {kept}, there are {counted}"


def _requests(run: Simulation) -> None:
    """Arrived = completed + failed + rejected + in flight, by counters, results and slots alike."""
    core, world = run.core, run.core.world[0]
    arrived, status = int(world["next_request"]), core.results["status"]
    ended = {name: int((status == value).sum()) for name, value in _STATUS.items()}
    for name, count in ended.items():
        _same(name, int(world[name]), count)
    assert arrived == sum(ended.values()) + int(world["inflight"])
    alive = np.sort(core.active["id"][core.active["id"] >= 0])
    _same("in flight", np.flatnonzero(status[:arrived] == records.PENDING), alive)
    assert np.all(status[arrived:] == records.PENDING)
    _same("late", int(world["late"]), int(core.results["late"].sum()))


_STATUS = {"completed": records.COMPLETED, "failed": records.FAILED, "rejected": records.REJECTED}


def _free(table: np.ndarray, first: int) -> np.ndarray:
    following, seen = table["next"].tolist(), []
    while first != records.NONE:
        seen.append(first)
        assert len(seen) <= len(table), "the list of free places runs in a circle"
        first = following[first]
    free = np.zeros(len(table), bool)
    free[seen] = True
    assert int(free.sum()) == len(seen), "a place is free twice"
    return free


def _hosts(run: Simulation, used: np.ndarray) -> None:
    """Memory and CPU of a host are never given away twice."""
    core, hosts = run.core, run.core.hosts
    active, interval = core.active, int(core.world[0]["dispatch"]) == records.BY_INTERVAL
    assert np.all(hosts["memory_used"] <= hosts["memory"] * (1 + SLACK))
    assert np.all(hosts["rate"] <= hosts["cores"] * (1 + SLACK))
    on_cpu = used & (active["rate"] > 0.0)
    rates = np.bincount(active["host"][on_cpu], active["rate"][on_cpu], len(hosts))
    np.testing.assert_allclose(hosts["rate"], rates, rtol=SLACK, atol=SLACK)
    assert np.all(active["rate"][on_cpu] <= _caps(run, on_cpu) * (1 + SLACK))
    _same("running", hosts["running"], np.bincount(active["host"][on_cpu], minlength=len(hosts)))
    here = used & (active["id"] >= 0) & (active["host"] >= 0)
    _same("in flight by host", hosts["inflight"], np.bincount(active["host"][here], minlength=len(hosts)))
    down = hosts["state"] == records.DOWN
    assert not np.any(down[active["host"][here]]), "a request is on a host that is down"
    if interval:
        memory = np.bincount(active["host"][here], active["memory"][here], len(hosts))
        _same("memory of tasks", hosts["memory_used"], memory)
        busy = (hosts["inflight"] > 0) & (hosts["state"] == records.HIBERNATED)
        assert not busy.any(), "a host sleeps that has tasks"
    _same("free memory", hosts["memory_free"], hosts["memory"] - hosts["memory_used"])


def _caps(run: Simulation, on_cpu: np.ndarray) -> np.ndarray:
    """Cores that each running request may have at most."""
    core = run.core
    rows = core.active[on_cpu]
    inside = rows["instance"] >= 0
    instances = core.instances[np.maximum(rows["instance"], 0)]
    share = np.where(inside, instances["cpu"] / np.maximum(instances["running"], 1), np.inf)
    return np.minimum(np.minimum(rows["cap"], core.hosts["cores"][rows["host"]]), share)


def _instances(run: Simulation) -> None:
    """Counters of world, hosts, functions and pools, recounted from the table of instances."""
    core, world = run.core, run.core.world[0]
    table, hosts, functions = core.instances, core.hosts, core.functions
    alive = table["state"] != records.FREE
    _same("free instances", _free(table, int(world["free_instance"])), ~alive)
    starting, idle = table["state"] == records.STARTING, alive & (table["idle"] == 1)
    draining = table["state"] == records.DRAINING
    ready = table["state"] == records.READY
    busy = (ready | draining) & ~idle
    for name, rows in ("instances", alive), ("starting", starting), ("idle", idle):
        _same(name, int(world[name]), int(rows.sum()))
    for name, rows in ("starting", starting), ("idle", idle), ("busy", busy):
        _same(f"{name} by host", hosts[name], np.bincount(table["host"][rows], minlength=len(hosts)))
        if name != "starting" and not world["pools_wanted"]:
            continue  # no policy looks at them, and nobody keeps them
        pool = table["host"][rows] * len(functions) + table["function"][rows]
        _same(f"{name} by pool", core.pools[name], np.bincount(pool, minlength=len(core.pools)))
    for name, rows in ("instances", alive), ("starting", starting), ("ready", ready), ("draining", draining):
        counted = np.bincount(table["function"][rows], minlength=len(functions))
        _same(f"{name} by function", functions[name], counted)
    if int(world["dispatch"]) != records.BY_INTERVAL:
        memory = np.bincount(table["host"][alive], table["memory"][alive], len(hosts))
        _same("memory of instances", hosts["memory_used"], memory)
    evictable = idle & bool(world["on_demand"])
    memory = np.bincount(table["host"][evictable], table["memory"][evictable], len(hosts))
    _same("memory that can be evicted", hosts["memory_idle"], memory)
    assert not np.any(hosts["state"][table["host"][alive]] == records.DOWN)


def _places(run: Simulation, used: np.ndarray) -> None:
    """Requests inside an instance: as many as it says, never more than its concurrency or batch."""
    core = run.core
    alive = core.instances["state"] != records.FREE
    idle = alive & (core.instances["idle"] == 1)
    within = used & (core.active["id"] >= 0) & (core.active["instance"] >= 0)
    inside = np.bincount(core.active["instance"][within], minlength=len(core.instances))
    _same("in flight by instance", core.instances["inflight"][alive], inside[alive])
    assert not inside[~alive].any(), "a request is in an instance that is gone"
    assert not inside[idle].any(), "an idle instance has requests"
    most = np.maximum(core.functions["concurrency"], core.functions["batch"])[core.instances["function"]]
    assert np.all(inside <= most)


def _lists(run: Simulation, used: np.ndarray) -> None:
    """Queues hold each waiting request once, and lists of instances those that they should."""
    core, world = run.core, run.core.world[0]
    following = core.active["next"].tolist()
    ends = [table[["queue_head", "queue_tail"]].tolist() for table in (core.hosts, core.functions)]
    waiting = [_chain(following, head, tail) for head, tail in ends[0] + ends[1]]
    slots = [slot for queue in waiting for slot in queue]
    assert len(slots) == len(set(slots)) == int(world["queued"])
    queued = np.flatnonzero(used & (core.active["phase"] == records.QUEUED) & (core.active["id"] >= 0))
    _same("queued", sorted(slots), queued.tolist())
    lengths = [len(queue) for queue in waiting]
    _same("queue lengths", [*core.hosts["queued"], *core.functions["queued"]], lengths)
    beside, younger = core.instances["host_next"].tolist(), core.instances["lru_next"].tolist()
    for index, row in enumerate(core.hosts):
        here = (core.instances["state"] != records.FREE) & (core.instances["host"] == index)
        found = _chain(beside, int(row["first_instance"]), None)
        _same("instances of a host", sorted(found), np.flatnonzero(here).tolist())
        oldest = _chain(younger, int(row["lru_head"]), int(row["lru_tail"]))
        _same("idle ones", sorted(oldest), np.flatnonzero(here & (core.instances["idle"] == 1)).tolist())
        since = core.instances["idle_since"][oldest]
        assert np.all(np.diff(since) >= 0.0), "idle instances are not in order of last use"


def _chain(following: list[int], head: int, tail: int | None) -> list[int]:
    found: list[int] = []
    while head != records.NONE:
        found.append(head)
        assert len(found) <= len(following), "a list runs in a circle"
        head = following[head]
    if tail is not None:
        assert tail == (found[-1] if found else records.NONE)
    return found


def _no_negatives(run: Simulation) -> None:
    world, core = run.core.world[0], run.core
    for name in ("inflight", "queued", "instances", "starting", "idle", "starts", "stops", "cold_starts", "blocked"):
        assert world[name] >= 0, name
    for name in ("inflight", "queued", "running", "starting", "busy", "idle", "memory_used", "memory_idle", "rate",
                 "devices", "busy_seconds", "energy", "on_seconds", "active_seconds"):  # fmt: skip
        assert np.all(core.hosts[name] >= 0), name
    for name in ("inflight", "queued", "instances", "ready", "starting", "draining", "streams", "load"):
        assert np.all(core.functions[name] >= 0), name
    for name in ("idle", "busy", "starting"):
        assert np.all(core.pools[name] >= 0), name
