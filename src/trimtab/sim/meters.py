"""Meters, integrated exactly: everything between two events is constant, so a product is an integral."""

from __future__ import annotations

import math

from trimtab.sim.kernel import entry, kernel, routine
from trimtab.sim.records import HIBERNATED, ON, WAKING

_ON, _WAKING, _HIBERNATED = ON, WAKING, HIBERNATED


@kernel
def meter_world(world):
    """Bring the cluster's integrals up to now."""
    elapsed = world.now - world.metered
    if elapsed > 0.0:
        world.inflight_seconds += world.inflight * elapsed
        world.instance_seconds += world.instances * elapsed
        world.idle_seconds += world.idle * elapsed
        world.metered = world.now


@kernel
def meter_function(function, now):
    """Bring one function's integrals up to now."""
    elapsed = now - function.metered
    if elapsed > 0.0:
        function.inflight_seconds += function.inflight * elapsed
        function.cpu_seconds += function.cpu_rate * elapsed
        function.instance_seconds += (function.ready + function.starting + function.draining) * elapsed
        function.metered = now


@kernel
def watts_at(host, utilisation):
    """Power by linear interpolation between the points of the curve (0, 10 … 100 % CPU)."""
    position = min(max(utilisation, 0.0), 1.0) * 10.0
    index = min(int(position), 9)
    part = position - index
    low, high = host.watts0, host.watts1
    if index == 1:
        low, high = host.watts1, host.watts2
    elif index == 2:
        low, high = host.watts2, host.watts3
    elif index == 3:
        low, high = host.watts3, host.watts4
    elif index == 4:
        low, high = host.watts4, host.watts5
    elif index == 5:
        low, high = host.watts5, host.watts6
    elif index == 6:
        low, high = host.watts6, host.watts7
    elif index == 7:
        low, high = host.watts7, host.watts8
    elif index == 8:
        low, high = host.watts8, host.watts9
    elif index == 9:
        low, high = host.watts9, host.watts10
    return low + (high - low) * part


@kernel
def power_of(world, host):
    """What the host draws right now, in watts."""
    if world.has_power == 0:
        return 0.0
    if host.state == _ON:
        return watts_at(host, (host.rate + host.devices) / host.cores)
    if host.state == _WAKING:
        return host.watts0
    if host.state == _HIBERNATED:
        return world.hibernated_power
    return 0.0


@kernel
def sample_host(world, host):
    """What a monitor that looks every ``sample_every`` seconds has seen by now.

    Rates are constant since the last sync, so the integrals at the passed sampling instants follow
    without an event at each of them. The load average is the kernel's: exponential over a minute.
    """
    step = world.sample_every
    latest = int(world.now / step)
    if latest <= host.sample:
        return
    at_latest = host.busy_seconds + host.rate * max(latest * step - host.synced, 0.0)
    at_before = host.busy_sample
    if latest - 1 > host.sample:
        at_before = host.busy_seconds + host.rate * max((latest - 1) * step - host.synced, 0.0)
    host.cpu = (at_latest - at_before) / step
    intervals = latest - host.sample
    decay = math.exp(-step * intervals / 60.0)
    host.load_average = host.load_average * decay + (host.running + host.queued) * (1.0 - decay)
    host.disk_rate = (host.disk_total - host.disk_sample) / (step * intervals)
    host.network_rate = (host.network_total - host.network_sample) / (step * intervals)
    host.disk_sample = host.disk_total
    host.network_sample = host.network_total
    host.busy_before = at_before
    host.busy_sample = at_latest
    host.sample = latest


@kernel
def meter_host(world, host):
    """Bring one host's integrals up to now; call before anything about the host changes."""
    if world.sampling == 1:
        sample_host(world, host)
    elapsed = world.now - host.synced
    if elapsed > 0.0:
        host.busy_seconds += (host.rate + host.devices) * elapsed
        host.memory_seconds += host.memory_used * elapsed
        if host.state == _ON or host.state == _WAKING:
            host.on_seconds += elapsed
        if host.inflight > 0:
            host.active_seconds += elapsed
        if world.has_power == 1:
            host.energy += power_of(world, host) * elapsed
        host.synced = world.now


@kernel
def touch(core, host):
    """Remember that the host's score has to be computed again."""
    if host.dirty == 0:
        host.dirty = 1
        world = core.world[0]
        core.dirty[world.dirty_count] = host.index
        world.dirty_count += 1


@entry
def meter_all(core):
    """Bring every integral up to now."""
    world = core.world[0]
    meter_world(world)
    for index in range(world.hosts):
        meter_host(world, core.hosts[index])
    for index in range(world.functions):
        meter_function(core.functions[index], world.now)


@routine
def record_sample(core, columns):
    """Write one row of the series: the state at this instant, and each host's use since the last."""
    world = core.world[0]
    row = world.sample_row
    if row >= columns.series.shape[0]:
        world.next_sample = math.inf
        return
    watts, busy, hosts_on = 0.0, 0.0, 0
    kept = columns.rows.shape[0]
    for index in range(world.hosts):
        host = core.hosts[index]
        meter_host(world, host)
        watts += power_of(world, host)
        busy += host.rate + host.devices
        if host.state == _ON or host.state == _WAKING:
            hosts_on += 1
        if index < kept:
            columns.rows[index, row] = (host.busy_seconds - host.busy_row) / (world.sample_step * host.cores)
            host.busy_row = host.busy_seconds
    values = columns.series[row]
    values[0], values[1], values[2], values[3] = world.now, world.inflight, world.queued, busy
    values[4], values[5], values[6] = world.instances, world.starting, watts
    values[7], values[8] = world.cold_starts, hosts_on
    world.sample_row = row + 1
    world.next_sample = (row + 2) * world.sample_step
