"""The event queue: a binary heap over a record array, ordered by (time, kind, sequence number)."""

from __future__ import annotations

from trimtab.sim.kernel import kernel

# Kinds in the order in which events of one instant happen: what frees capacity comes first.
(CPU_DONE, BATCH_DONE, DELAY_DONE, HOST_AWAKE, STREAM_ENDS, PREWARM, EXPIRES, DELIVERY) = range(8)
KIND = 48
"""Bits of an event's order below its kind."""


@kernel
def event_kind(order):
    """The kind of an event from its order."""
    return order >> KIND


@kernel
def push(world, heap, time, kind, index, stamp):
    """Add an event; the caller of advance() guarantees room."""
    world = world[0]
    order = (kind << KIND) | world.sequence
    world.sequence += 1
    hole = world.heap_size
    world.heap_size = hole + 1
    rise(heap, hole, time, order, index, stamp)


@kernel
def push_timer(world, timers, time, index, stamp):
    """Add the expiry of an idle instance, in a heap of its own: there are many, and most never ring."""
    world = world[0]
    order = (EXPIRES << KIND) | world.sequence
    world.sequence += 1
    hole = world.timers
    world.timers = hole + 1
    rise(timers, hole, time, order, index, stamp)


@kernel
def rise(heap, hole, time, order, index, stamp):
    """Move an entry up from ``hole`` to where it belongs."""
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
    world[0].heap_size -= 1
    sink(heap, world[0].heap_size)


@kernel
def pop_timer(world, timers):
    """Remove the first timer."""
    world[0].timers -= 1
    sink(timers, world[0].timers)


@kernel
def sink(heap, size):
    """Fill the first place of a heap with its last entry.

    The hole goes down to a leaf first, without comparing the entry, which nearly always belongs there; then
    the entry rises from the leaf. The smaller child is found without a branch: it would be a coin toss.
    """
    if size == 0:
        return
    hole, child = 0, 1
    while child < size:
        if child + 1 < size:
            left, right = heap[child], heap[child + 1]
            smaller = (right.time < left.time) | ((right.time == left.time) & (right.order < left.order))
            child += int(smaller)
        below, here = heap[child], heap[hole]
        here.time, here.order, here.index, here.stamp = below.time, below.order, below.index, below.stamp
        hole = child
        child = 2 * hole + 1
    last = heap[size]
    rise(heap, hole, last.time, last.order, last.index, last.stamp)
