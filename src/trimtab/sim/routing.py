"""Streams of queries: a worker for each stream, the network there and back for each query."""

from __future__ import annotations

from trimtab.sim.heap import DELIVERY, STREAM_ENDS, push
from trimtab.sim.kernel import kernel, routine
from trimtab.sim.records import ASK, FAILED, IN_TRANSIT, NONE, REJECTED
from trimtab.sim.requests import abandon, begin_request, enter_function_record

_NONE, _DELIVERY, _STREAM_ENDS, _IN_TRANSIT = NONE, DELIVERY, STREAM_ENDS, IN_TRANSIT
_REJECTED, _FAILED, _ASK = REJECTED, FAILED, ASK


@routine
def look_at_workers(core, columns, stream):
    """Fill what a routing policy sees of every worker for this stream, ASET's constraints included.

    (1) right task; (2) L + rho ≤ C; (3) 2(delta + d + 2 sigma) + zeta/b + D_v ≤ D; (4) accuracy.
    """
    world = core.world[0]
    world.demand += stream.rate
    for index in range(world.functions):
        worker = core.functions[index]
        link = columns.links[stream.source * world.sites + max(worker.site, 0)]
        worker.distance = link.delay + 2.0 * link.deviation
        worker.network = 2.0 * (stream.access + worker.distance) + stream.size / stream.bandwidth
        worker.network += stream.size / link.bandwidth
        up = worker.ready + worker.starting
        capacity = worker.capacity * up
        worker.wait = worker.inflight / capacity if capacity > 0.0 else 1e9
        suits = (
            worker.task == stream.task
            and worker.accuracy >= stream.accuracy
            and worker.network + worker.delay <= stream.deadline
        )
        if suits:
            worker.usable += stream.rate
        worker.scarcity = worker.usable / world.demand
        cut = worker.site >= 0 and (world.cut_mask >> worker.site) & 1 == 1
        fits = suits and up > 0 and worker.load + stream.rate <= capacity * (1.0 + 1e-9)
        worker.feasible = 1 if fits and not cut else 0


@routine
def route_stream(core, columns, mind, route):
    """A stream arrives: bind it to a worker for its life, or reject it; -2 and -3 report a bad answer.

    ASK leaves it where it is, the next to arrive; when it is asked for again it is not counted again.
    """
    world = core.world[0]
    index = world.next_stream
    stream = columns.streams[index]
    if world.asked_stream == _NONE:
        look_at_workers(core, columns, stream)
    choice = route(
        core.world,
        columns.streams,
        index,
        core.functions,
        mind.memory,
        mind.weights,
        mind.random,
        mind.scores,
    )
    world.asked_stream = index if choice == _ASK else _NONE
    if choice == _ASK:
        return choice
    world.next_stream = index + 1
    world.decisions += 1
    stream.worker = _NONE
    world.bad_route = 1 if choice < _NONE else 0
    if choice < 0:
        return choice
    if choice >= world.functions or core.functions[choice].feasible == 0:
        world.bad_host = choice
        world.bad_route = 1
        return -3
    stream.worker = choice
    stream.live = 1
    worker = core.functions[choice]
    worker.load += stream.rate
    worker.streams += 1
    push(core.world, core.heap, stream.arrival + stream.duration, _STREAM_ENDS, index, 0)
    return choice


@kernel
def end_stream(core, columns, index):
    """A stream is over: its worker's load falls."""
    stream = columns.streams[index]
    worker = core.functions[stream.worker]
    worker.load = max(worker.load - stream.rate, 0.0)
    worker.streams -= 1
    stream.live = 0


@routine
def send_query(core, columns, identity):
    """A query of a stream sets out for the worker of its stream."""
    world = core.world[0]
    stream = columns.streams[columns.stream[identity]]
    if stream.worker == _NONE:
        core.results[identity].status = _REJECTED
        world.rejected += 1
        world.last_end = world.now
        return
    slot = begin_request(core, identity)
    request = core.active[slot]
    worker = core.functions[stream.worker]
    request.stream = columns.stream[identity]
    request.source = stream.source
    request.deadline = world.now + stream.deadline
    enter_function_record(core, slot, stream.worker, columns.work[identity] * worker.work, worker.off_cpu)
    link = columns.links[stream.source * world.sites + max(worker.site, 0)]
    up = stream.access + max(link.delay + link.deviation * columns.noise[3 * identity], 0.0)
    up += stream.size / stream.bandwidth + stream.size / link.bandwidth
    request.down = stream.access + max(link.delay + link.deviation * columns.noise[3 * identity + 1], 0.0)
    request.noise = columns.noise[3 * identity + 2]
    result = core.results[identity]
    result.worker = stream.worker
    result.accurate = 1 if worker.accuracy >= stream.accuracy else 0
    if worker.site >= 0 and (world.cut_mask >> worker.site) & 1 == 1:
        abandon(core, slot, _FAILED)
        return
    request.phase = _IN_TRANSIT
    push(core.world, core.heap, world.now + up, _DELIVERY, slot, request.stamp)
