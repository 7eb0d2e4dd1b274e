"""The engine's memory: record arrays, so that ``host.inflight`` is a field and one pointer is passed."""

from __future__ import annotations

import numpy as np

NONE = -1
"""An empty link or index."""

# Host.state
ON, WAKING, HIBERNATED, DOWN = 0, 1, 2, 3
# Instance.state; DRAINING takes no new request and goes when its last one ends
FREE, STARTING, READY, DRAINING = 0, 1, 2, 3
# Active.phase
(
    IN_TRANSIT, QUEUED, CREATING, WAITING_TO_INIT, INITIALISING, INIT_OFF_CPU, WAITING_FOR_CORE, RUNNING,
    OFF_CPU, IN_BATCH, MIGRATING, UNASSIGNED, RESPONDING,
) = range(13)  # fmt: skip
# World.dispatch
BY_HOST, BY_CLUSTER, BY_INTERVAL = 0, 1, 2
# Result.status
COMPLETED, FAILED, REJECTED, PENDING = 0, 1, 2, 3
# why advance() returned
AT_TIME, AT_END, NEEDS_ROOM, OUT_OF_BUDGET, BAD_DECISION, DECISION = 0, 1, 2, 3, 4, 5
ASK = -4
"""A place or route policy's answer for: the decision is taken outside, ask again when the run goes on."""
# Fault kinds
HOST_DOWN, HOST_BACK, INSTANCE_CRASH, METRICS_STALE, METRICS_BACK, SITE_CUT, SITE_BACK = range(7)

_F, _I, _L = "f8", "i4", "i8"


def _dtype(**fields: str) -> np.dtype[np.void]:
    return np.dtype(list(fields.items()), align=True)


WORLD = _dtype(
    now=_F, end=_F, next_request=_L, next_stream=_L, next_fault=_L, requests=_L, streams=_L, faults=_L,
    dispatch=_I, on_demand=_I, fifo=_I, serial_creation=_I, sampling=_I, hibernate=_I, meter_functions=_I,
    has_power=_I, drops_late=_I, hybrid=_I, warm_all=_I, functions=_I, hosts=_I, sites=_I, managed=_I,
    queue_limit=_L, sequence=_L, heap_size=_L, timers=_L, pools_wanted=_I, free_request=_I, free_instance=_I,
    wake=_F, hibernated_power=_F, sample_every=_F, inflight=_L, queued=_L, waiting=_L, instances=_L,
    starting=_L, idle=_L, metered=_F, inflight_seconds=_F, instance_seconds=_F, idle_seconds=_F, starts=_L,
    stops=_L, cold_starts=_L, decisions=_L, completed=_L, failed=_L, rejected=_L, late=_L, migrations=_L,
    evictions=_L, next_sample=_F, sample_step=_F, sample_row=_L, metrics_stale=_I, blocked=_L, bad_value=_F,
    bad_host=_L, bad_route=_I, demand=_F,
    tree_ready=_I, tree_size=_L, dirty_count=_L, access=_F, seed=_L, hybrid_bins=_I,
    hybrid_width=_F, hybrid_head=_F, hybrid_tail=_F, hybrid_margin=_F, keep_alive=_F, last_end=_F,
    cut_mask=_L, freed=_I, asked=_I, asked_stream=_I,
)  # fmt: skip

HOST = _dtype(
    index=_I, site=_I, state=_I, cut=_I, cores=_F, vcpus=_F, speed=_F, memory=_F, memory_used=_F,
    memory_idle=_F, memory_free=_F, slots_free=_F, inflight=_I, queued=_I, running=_I, starting=_I, busy=_I,
    idle=_I, warm=_I, busy_same=_I, starting_same=_I, would_evict=_F, devices=_F, rate=_F, synced=_F,
    next_finish=_F, next_slot=_I, stamp=_I, contended=_I, first=_I, queue_head=_I, queue_tail=_I, lru_head=_I,
    lru_tail=_I, creating=_I, create_head=_I, create_tail=_I, pending=_I, core_head=_I, core_tail=_I,
    busy_seconds=_F, memory_seconds=_F, energy=_F, on_seconds=_F, active_seconds=_F, watts0=_F, watts1=_F,
    watts2=_F, watts3=_F, watts4=_F, watts5=_F, watts6=_F, watts7=_F, watts8=_F, watts9=_F, watts10=_F,
    price=_F, sample=_L, busy_sample=_F, busy_before=_F, cpu=_F, load_average=_F, disk=_F, network=_F,
    disk_total=_F, network_total=_F, disk_sample=_F, network_sample=_F, disk_rate=_F, network_rate=_F,
    busy_row=_F, dirty=_I, bandwidth=_F, cold_starts=_L, first_instance=_I,
)  # fmt: skip

INSTANCE = _dtype(
    function=_I, host=_I, state=_I, stamp=_I, inflight=_I, running=_I, next=_I, previous=_I, listed=_I,
    lru_next=_I, lru_previous=_I, idle=_I, function_next=_I, function_previous=_I, host_next=_I,
    host_previous=_I, timer=_I, idle_since=_F, expires=_F, cpu=_F, memory=_F, first=_I, create_next=_I,
    slot=_I,
)  # fmt: skip

ACTIVE = _dtype(
    id=_L, function=_I, stage=_I, phase=_I, stamp=_I, host=_I, instance=_I, finish=_F, rate=_F, weight=_F,
    cap=_F, left=_F, arrival=_F, deadline=_F, work=_F, true_work=_F, memory=_F, init=_F, create=_F,
    off_cpu=_F, entered=_F, begun=_F, next=_I, previous=_I, cold=_I, stream=_I, source=_I, hash=_L, target=_I,
    noise=_F, down=_F, owner=_I,
)  # fmt: skip

FUNCTION = _dtype(
    index=_I, memory=_F, create=_F, init=_F, init_off_cpu=_F, work=_F, deviation=_F, distribution=_I,
    off_cpu=_F, cap=_F, cpu=_F, concurrency=_I, deadline=_F, batch=_I, base=_F, each=_F, batch_deviation=_F,
    next=_I, site=_I, task=_I, accuracy=_F, weight=_F, hash=_L, keep_alive=_F, network_bytes=_F,
    disk_bytes=_F, start_up=_F, queue_head=_I, queue_tail=_I, queued=_I, first=_I, last=_I, instances=_I,
    ready=_I, starting=_I, draining=_I, target=_I, inflight=_I, first_instance=_I, metered=_F, cpu_rate=_F,
    cpu_seconds=_F, inflight_seconds=_F, arrivals=_L, completions=_L, violations=_L, service_seconds=_F,
    services=_L, instance_seconds=_F, load=_F, capacity=_F, streams=_I, usable=_F, last_end=_F, idle_count=_L,
    idle_outside=_L, prewarm=_F, managed=_I, network=_F, delay=_F, distance=_F, feasible=_I, wait=_F,
    scarcity=_F, served=_L,
)  # fmt: skip

POOL = _dtype(first=_I, last=_I, idle=_I, busy=_I, starting=_I)
"""Instances of one function on one host, at index host × functions + function."""

EVENT = _dtype(time=_F, order=_L, index=_I, stamp=_I)
"""Ordered by (time, kind, sequence number); ``order`` holds kind in its top bits."""

RESULT = np.dtype(
    [("completion", "f8"), ("start", "f8"), ("host", "i4"), ("worker", "i4"), ("status", "u1"),
     ("cold", "u1"), ("late", "u1"), ("accurate", "u1")], align=True
)  # fmt: skip
"""What is kept of a request after it ended."""

STREAM = _dtype(
    arrival=_F, duration=_F, application=_I, source=_I, rate=_F, deadline=_F, accuracy=_F, size=_F,
    bandwidth=_F, access=_F, task=_I, worker=_I, live=_I,
)  # fmt: skip

LINK = _dtype(delay=_F, deviation=_F, bandwidth=_F)
"""From a source to a site, at index source × sites + site."""

FAULT = _dtype(time=_F, kind=_I, target=_I)

RUN = _dtype(expected=_F, weight=_F, cap=_F, memory=_F, left=_F, age=_F, function=_I, queued=_I, stage=_I)
"""A request on a host as a placement policy may see it: expected, never true, work."""

SERIES = (
    "time",
    "inflight",
    "queued",
    "busy_cores",
    "instances",
    "starting",
    "power_w",
    "cold_starts",
    "hosts_on",
)
"""Columns of the series that a run records."""
