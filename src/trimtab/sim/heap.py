"""The event queue: a binary heap over a record array, ordered by (time, kind, sequence number)."""

from __future__ import annotations

from trimtab.sim.kernel import kernel

# Kinds in the order in which events of one instant happen: what frees capacity comes first.
(CPU_DONE, BATCH_DONE, DELAY_DONE, HOST_AWAKE, STREAM_ENDS, PREWARM, EXPIRES, DELIVERY) = range(8)
_KIND = 48


@kernel
def event_kind(order):
    """The kind of an event from its order."""
    return order >> _KIND


@kernel
def push(world, heap, time, kind, index, stamp):
    """Add an event; the caller of advance() guarantees room."""
    world = world[0]
    order = (kind << _KIND) | world.sequence
    world.sequence += 1
    hole = world.heap_size
    world.heap_size = hole + 1
    while hole > 0:
        parent = (hole - 1) >> 1
        above = heap[parent]
        if above.time < time or (above.time == time and above.order < order):
            break
        here = heap[hole]
        here.time, here.order, here.index, here.stamp = above.time, above.order, above.index, above.stamp
        hole = parent
    here = heap[hole]
    here.time, here.order, here.index, here.stamp = time, order, index, stamp


@kernel
def pop(world, heap):
    """Remove the first event (read it from ``heap[0]`` before)."""
    world = world[0]
    size = world.heap_size - 1
    world.heap_size = size
    if size == 0:
        return
    last = heap[size]
    time, order, index, stamp = last.time, last.order, last.index, last.stamp
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        below = heap[child]
        if child + 1 < size:
            right = heap[child + 1]
            if right.time < below.time or (right.time == below.time and right.order < below.order):
                child += 1
                below = right
        if time < below.time or (time == below.time and order < below.order):
            break
        here = heap[hole]
        here.time, here.order, here.index, here.stamp = below.time, below.order, below.index, below.stamp
        hole = child
    here = heap[hole]
    here.time, here.order, here.index, here.stamp = time, order, index, stamp
