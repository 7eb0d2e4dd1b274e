"""From a scenario and a workload to the engine's arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.scenario.gateways import EVERYWHERE, gateway_names
from trimtab.scenario.model import Fault, Scenario
from trimtab.sim import records
from trimtab.sim.deployment import Deployment
from trimtab.sim.state import Columns, Core, Mind, Records
from trimtab.workload.table import Workload

_DISPATCH = {"host": records.BY_HOST, "cluster": records.BY_CLUSTER, "interval": records.BY_INTERVAL}
_DISTRIBUTION = {"exponential": 0, "lognormal": 1, "constant": 2, "uniform": 3}
_LATENCY_BINS = 160
_NO_LIMIT = 2**62
_IDLE_BIN = 60.0
_KEPT_HOSTS = 200


def java_hash(text: str) -> int:
    """Java's String.hashCode: h = 31 h + c in 32 bits, signed."""
    value = 0
    data = text.encode("utf-16-be")
    for position in range(0, len(data), 2):
        value = (31 * value + (data[position] << 8 | data[position + 1])) & 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value


def openwhisk_hash(namespace: str, action: str) -> int:
    """|hash(namespace) xor hash(fully qualified action name)|, as OpenWhisk's balancer computes it."""
    return abs(java_hash(namespace) ^ java_hash(action))


def site_names(scenario: Scenario) -> tuple[str, ...]:
    """Every site, in order of first mention."""
    names = [site.name for site in scenario.sites] + [host.site for host in scenario.hosts]
    return tuple(dict.fromkeys(names))


def host_names(scenario: Scenario) -> tuple[str, ...]:
    """One name a host."""
    return tuple(
        group.name if group.count == 1 else f"{group.name}{number}"
        for group in scenario.hosts
        for number in range(group.count)
    )


def build_hosts(scenario: Scenario) -> Records:
    """The host table; links are empty, everything is on (or asleep, where hosts hibernate)."""
    sites = site_names(scenario)
    hosts = np.zeros(sum(group.count for group in scenario.hosts), records.HOST)
    start = 0
    for group in scenario.hosts:
        rows = hosts[start : start + group.count]
        rows["site"] = sites.index(group.site)
        rows["cores"] = group.effective_cores or group.cores
        rows["vcpus"] = group.cores
        rows["speed"] = group.speed
        rows["memory"] = rows["memory_free"] = rows["slots_free"] = group.memory
        rows["disk"], rows["network"], rows["bandwidth"] = group.disk, group.network, group.network
        rows["price"] = group.price or 0.0
        for point, watts in enumerate(group.power or ()):
            rows[f"watts{point}"] = watts
        start += group.count
    hosts["index"] = np.arange(len(hosts))
    hosts["next_finish"] = math.inf
    for link in ("next_slot", "first", "queue_head", "queue_tail", "lru_head", "lru_tail", "creating", "create_head",
                 "create_tail", "pending", "core_head", "core_tail", "first_instance"):  # fmt: skip
        hosts[link] = records.NONE
    if scenario.platform.hibernate:
        hosts["state"] = records.HIBERNATED
    return hosts


def build_functions(scenario: Scenario, deployed: tuple[Deployment, ...], workload: Workload) -> Records:
    """The function table: one row a deployment."""
    sites, tasks = site_names(scenario), workload.tasks
    names = [row.name for row in deployed]
    rows = np.zeros(len(deployed), records.FUNCTION)
    for link in ("queue_head", "queue_tail", "first", "last", "first_instance"):
        rows[link] = records.NONE
    rows["index"] = np.arange(len(rows))
    for index, row in enumerate(deployed):
        _fill_function(rows[index], scenario, row, names)
        function = row.function
        rows[index]["site"] = records.NONE if function.site is None else sites.index(function.site)
        rows[index]["task"] = tasks.index(function.task) if function.task in tasks else records.NONE
    if len(workload.memory) == len(rows) and len(rows) > 0:
        rows["memory"] = workload.memory
    _fill_weights(rows, scenario)
    _fill_devices(rows, scenario)
    return rows


def _fill_devices(rows: Records, scenario: Scenario) -> None:
    """Instances with a rate of their own share the machines of their site evenly, for meters alone."""
    batched = rows["batch"] > 0
    for index, site in enumerate(site_names(scenario)):
        here = batched & (rows["site"] == index)
        cores = [group.effective_cores or group.cores for group in scenario.hosts if group.site == site]
        if here.any() and cores:
            rows["cpu"][here] = min(min(cores), sum(cores) / int(here.sum()))
    rows["cpu"][batched & ~np.isfinite(rows["cpu"])] = 1.0


def _fill_function(row: Any, scenario: Scenario, deployed: Deployment, names: list[str]) -> None:
    function = deployed.function
    row["memory"], row["create"], row["init"] = function.memory, function.create, function.init
    row["init_off_cpu"], row["work"], row["deviation"] = (
        function.init_off_cpu,
        function.work,
        function.work_deviation,
    )
    row["distribution"], row["off_cpu"] = _DISTRIBUTION[function.distribution], function.off_cpu
    row["cap"] = math.inf if function.parallelism is None else function.parallelism
    row["cpu"] = math.inf if function.cpu is None else function.cpu
    row["concurrency"] = function.concurrency
    row["deadline"] = math.inf if function.deadline is None else function.deadline
    row["next"] = records.NONE if function.next is None else names.index(function.next)
    row["accuracy"] = function.accuracy or 0.0
    row["network_bytes"], row["disk_bytes"] = function.network_bytes, function.disk_bytes
    row["hash"] = openwhisk_hash("guest", f"guest/{function.name}")
    row["keep_alive"] = scenario.platform.keep_alive.seconds
    row["start_up"] = function.create + function.init + function.init_off_cpu
    row["managed"] = 1 if function.kind == "managed" else 0
    if function.batch is None:
        row["delay"] = function.work + function.off_cpu
        row["capacity"] = function.concurrency / row["delay"] if row["delay"] > 0 else math.inf
    else:
        batch = function.batch
        row["batch"], row["base"], row["each"] = batch.size, batch.base, batch.each
        row["batch_deviation"] = batch.deviation
        row["delay"] = batch.base + batch.each * batch.size
        row["capacity"] = batch.size / row["delay"] if row["delay"] > 0 else math.inf
        row["work"] = row["delay"] / batch.size


def _fill_weights(rows: Records, scenario: Scenario) -> None:
    """OpenWhisk: CPU shares in proportion to memory; otherwise all requests weigh the same."""
    rows["weight"] = np.maximum(rows["memory"] / 2.0**20, 1.0) if scenario.platform.weights == "memory" else 1.0


def build_links(scenario: Scenario, sources: tuple[str, ...]) -> Records:
    """Delay from each source to each site; what is not listed is at no distance."""
    sites = site_names(scenario)
    links = np.zeros(max(len(sources), 1) * len(sites), records.LINK)
    links["bandwidth"] = 1.25e9
    for link in scenario.network.links:
        for index, source in enumerate(sources or (EVERYWHERE,)):
            if link.source in (source, EVERYWHERE):
                row = links[index * len(sites) + sites.index(link.site)]
                row["delay"], row["deviation"], row["bandwidth"] = link.delay, link.deviation, link.bandwidth
    return links


def build_streams(workload: Workload) -> Records:
    """The stream table."""
    if workload.streams is None:
        return np.zeros(0, records.STREAM)
    streams = np.zeros(len(workload.streams.arrival), records.STREAM)
    for name in ("arrival", "duration", "application", "source", "rate", "deadline", "accuracy", "size", "bandwidth",
                 "access", "task"):  # fmt: skip
        streams[name] = getattr(workload.streams, name)
    streams["worker"] = records.NONE
    return streams


def build_faults(scenario: Scenario, duration: float, seed: int) -> Records:
    """The schedule of faults, those at a rate drawn from their own seeded stream."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(4,)))
    entries: list[tuple[float, int, int]] = []
    for fault in scenario.faults:
        times = [fault.at] if fault.at is not None else _times(rng, fault, duration)
        for time in times:
            entries += _entries(scenario, fault, float(time), rng)
    entries = _union(sorted(entries))
    faults = np.zeros(len(entries), records.FAULT)
    for index, entry in enumerate(entries):
        faults[index] = entry
    return faults


_ENDS = {
    records.HOST_BACK: records.HOST_DOWN,
    records.METRICS_BACK: records.METRICS_STALE,
    records.SITE_BACK: records.SITE_CUT,
}


def _union(entries: list[tuple[float, int, int]]) -> list[tuple[float, int, int]]:
    """Where faults of one thing overlap, it is well again when the last of them is over."""
    depth: dict[tuple[int, int], int] = {}
    kept = []
    for entry in entries:
        _, kind, target = entry
        if kind == records.INSTANCE_CRASH:
            kept.append(entry)
            continue
        what = (_ENDS.get(kind, kind), target)
        before = depth.get(what, 0)
        depth[what] = before + (-1 if kind in _ENDS else 1)
        if 0 in (before, depth[what]):
            kept.append(entry)
    return kept


def _times(rng: np.random.Generator, fault: Fault, duration: float) -> list[float]:
    count = int(rng.poisson((fault.rate or 0.0) * duration))
    return sorted(rng.uniform(0.0, duration, count).tolist())


def _entries(scenario: Scenario, fault: Fault, time: float, rng: np.random.Generator) -> list[tuple[float, int, int]]:
    hosts = sum(group.count for group in scenario.hosts)
    if fault.kind == "host-down":
        if fault.host is not None and fault.host >= hosts:
            raise TrimtabError(f"faults: host = {fault.host}, must be below the number of hosts, {hosts}")
        host = fault.host if fault.host is not None else int(rng.integers(hosts))
        return [(time, records.HOST_DOWN, host), (time + fault.lasts, records.HOST_BACK, host)]
    if fault.kind == "instance-crash":
        return [(time, records.INSTANCE_CRASH, 0)]
    if fault.kind == "metrics-stale":
        return [(time, records.METRICS_STALE, 0), (time + fault.lasts, records.METRICS_BACK, 0)]
    sites = site_names(scenario)
    if fault.site not in sites:
        raise TrimtabError(f"faults: site = {fault.site!r}, must be one of: {', '.join(sites)}")
    site = sites.index(fault.site)
    return [(time, records.SITE_CUT, site), (time + fault.lasts, records.SITE_BACK, site)]


def chain_free(table: Records, first: int) -> None:
    """Link the rows from ``first`` on into a list of free places."""
    count = len(table) - first
    table["next"][first:] = np.arange(first + 1, first + 1 + count)
    table["next"][-1] = records.NONE


def build_core(scenario: Scenario, deployed: tuple[Deployment, ...], workload: Workload, seed: int) -> Core:
    """All tables of a run at time zero."""
    hosts = build_hosts(scenario)
    functions = build_functions(scenario, deployed, workload)
    pools = np.zeros(len(hosts) * max(len(functions), 1), records.POOL)
    pools["first"] = pools["last"] = records.NONE
    active, instances = np.zeros(1024, records.ACTIVE), np.zeros(1024, records.INSTANCE)
    active["id"] = active["host"] = active["instance"] = records.NONE
    chain_free(active, 0)
    chain_free(instances, 0)
    results = np.zeros(len(workload), records.RESULT)
    results["completion"] = results["start"] = math.nan
    results["host"] = results["worker"] = records.NONE
    results["status"], results["accurate"] = records.PENDING, 1
    dirty = np.arange(len(hosts), dtype=np.int32)
    hosts["dirty"] = 1
    latency = np.zeros(len(functions) * _LATENCY_BINS, np.int64)
    world = build_world(scenario, workload, hosts, functions, seed)
    heap = np.zeros(4096, records.EVENT)
    timers = np.zeros(2048, records.EVENT)
    return Core(world, hosts, instances, functions, pools, active, heap, timers, results, dirty, latency)


def build_world(scenario: Scenario, workload: Workload, hosts: Records, functions: Records, seed: int) -> Records:
    """The one row of scalars."""
    world = np.zeros(1, records.WORLD)
    row, platform = world[0], scenario.platform
    row["requests"], row["streams"] = (
        len(workload),
        0 if workload.streams is None else len(workload.streams.arrival),
    )
    row["dispatch"] = _DISPATCH[platform.dispatch]
    row["on_demand"] = platform.instances == "on-demand"
    row["fifo"] = platform.cpu == "fifo"
    row["serial_creation"], row["hibernate"] = platform.serial_creation, platform.hibernate
    row["has_power"] = any(group.power for group in scenario.hosts)
    row["hybrid"] = platform.keep_alive.policy == "hybrid-histogram"
    row["warm_all"] = platform.warm_counts == "all"
    row["functions"], row["hosts"], row["sites"] = len(functions), len(hosts), len(site_names(scenario))
    row["managed"] = max(1, math.ceil(platform.managed_share * len(hosts)))
    row["queue_limit"] = _NO_LIMIT if platform.queue_limit is None else platform.queue_limit
    row["wake"], row["hibernated_power"] = platform.wake, platform.hibernated_power
    row["sample_every"] = platform.sample_every
    row["seed"] = seed
    row["dirty_count"] = len(hosts)
    row["tree_size"] = 1 << max(len(hosts) - 1, 1).bit_length()
    keep = platform.keep_alive
    row["keep_alive"] = keep.seconds
    row["hybrid_bins"], row["hybrid_width"] = max(1, int(keep.range / _IDLE_BIN)), _IDLE_BIN
    row["hybrid_head"], row["hybrid_tail"], row["hybrid_margin"] = keep.head, keep.tail, keep.margin
    row["next_sample"] = math.inf
    row["asked"] = row["asked_stream"] = records.NONE
    return world


def build_columns(scenario: Scenario, workload: Workload, core: Core, seed: int, samples: int) -> Columns:
    """Inputs by request, and room for ``samples`` rows of the series."""
    world = core.world[0]
    faults = build_faults(scenario, workload.duration, seed)
    world["faults"] = len(faults)
    bins = int(world["hybrid_bins"]) * len(core.functions) if world["hybrid"] else 0
    noise = workload.noise if len(workload.noise) else np.zeros(3 * len(workload) * bool(world["streams"]))
    return Columns(
        _column(workload.arrival, np.float64), _column(workload.function, np.int32),
        _column(workload.work, np.float64), _column(workload.off_cpu, np.float64),
        _column(workload.stream, np.int32), _column(noise, np.float64),
        build_streams(workload), build_links(scenario, gateway_names(scenario)), faults,
        np.zeros((samples, len(records.SERIES))), np.zeros((min(len(core.hosts), _KEPT_HOSTS), samples), np.float32),
        np.zeros(bins, np.int32),
    )  # fmt: skip


def _column(values: Any, kind: Any) -> Any:
    """Contiguous and writeable: to Numba a read-only array is another type, and another engine."""
    return np.require(values, kind, ["C", "W"])


def build_mind(
    core: Core, memory: int, weights: tuple[float, ...] | npt.NDArray[np.float64], seed: int, salt: int
) -> Mind:
    """A policy's own arrays, its random stream seeded apart from everything else."""
    word = np.random.SeedSequence(seed, spawn_key=(5, salt)).generate_state(1, np.uint64).astype(np.uint64)
    size = int(core.world[0]["tree_size"])
    return Mind(
        np.zeros(max(memory, 1)), np.asarray(weights if len(weights) else (0.0,), np.float64), word,
        np.full(max(len(core.hosts), len(core.functions)), -math.inf), np.full(2 * size, records.NONE, np.int32),
        np.zeros(4096, records.RUN),
    )  # fmt: skip
