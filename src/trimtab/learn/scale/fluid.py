"""A fluid model of one service under ``residual``: thousands of hours a minute, for direct search.

Requests are counted in bins of 100 ms and leave at the rate of the instances that are ready; a request is late
when the queue that it finds takes longer than its deadline allows. What is learned here is evaluated in the engine.
"""

from __future__ import annotations

import math

from trimtab.policies.scale.staffing import (
    ARRIVALS,
    COMPLETIONS,
    CONCURRENCY,
    COUNT,
    CPU,
    CPU_LIMIT,
    NOW,
    PERIOD,
    QUEUED,
    READY,
    SERVICE,
    START_UP,
    VIOLATIONS,
    WINDOW,
    plan,
)
from trimtab.sim.kernel import entry

BIN = 0.1
"""Seconds."""
# Places in the figures that come out.
ALL, LATE, INSTANCE_SECONDS, CORE_SECONDS, CHANGES = range(5)


@entry
def play(counts, service, deadline, start_up, instances, base_cpu, settings, weights, memory, tick, coming, figures):
    """One service through all bins; ``coming`` has a place for each tick of a start-up."""
    per_tick = max(1, int(settings[PERIOD] / BIN + 0.5))
    ready, starting, cpu, queue, before = float(instances), 0.0, base_cpu, 0.0, float(instances)
    arrivals, late, done, ticks = 0.0, 0.0, 0.0, 0
    memory[:] = 0.0
    coming[:] = 0.0
    figures[:] = 0.0
    for place in range(counts.shape[0]):
        count = counts[place]
        running = service / cpu
        capacity = ready / running * BIN
        # the wait of the last request of this bin; those before it wait in proportion
        first = queue / max(capacity, 1e-9) * BIN
        last = max(queue + count - capacity, 0.0) / max(capacity, 1e-9) * BIN
        slack = deadline - 1.25 * running
        share = 0.0
        if first > slack and last > slack:
            share = 1.0
        elif last > slack:
            share = (last - slack) / max(last - first, 1e-9)
        elif first > slack:
            share = (first - slack) / max(first - last, 1e-9)
        late += share * count
        arrivals += count
        done += min(queue + count, capacity)
        queue = max(queue + count - capacity, 0.0)
        figures[INSTANCE_SECONDS] += (ready + starting) * BIN
        figures[CORE_SECONDS] += (ready + starting) * cpu * BIN
        if (place + 1) % per_tick == 0:
            ticks += 1
            slot = ticks % coming.shape[0]
            ready += coming[slot]
            starting -= coming[slot]
            coming[slot] = 0.0
            tick[NOW] = ticks * settings[PERIOD]
            tick[WINDOW] = settings[PERIOD]
            tick[ARRIVALS] = arrivals
            tick[VIOLATIONS] = late
            tick[COMPLETIONS] = done
            tick[QUEUED] = math.floor(max(queue - 0.5, 0.0))
            tick[READY] = ready
            tick[CONCURRENCY] = 1.0
            tick[START_UP] = start_up
            tick[SERVICE] = running
            tick[CPU_LIMIT] = cpu
            figures[ALL] += arrivals
            figures[LATE] += late
            arrivals, late, done = 0.0, 0.0, 0.0
            plan(memory, tick, settings, weights)
            cpu = memory[CPU]
            wanted = memory[COUNT]
            if wanted != before:
                figures[CHANGES] += 1.0
                before = wanted
            slot = (ticks + coming.shape[0] - 1) % coming.shape[0]
            if wanted > ready + starting:
                coming[slot] += wanted - ready - starting
                starting = wanted - ready
            elif wanted < ready + starting:
                extra = ready + starting - wanted
                # the youngest start is given up first
                for back in range(coming.shape[0]):
                    index = (slot - back) % coming.shape[0]
                    taken = min(coming[index], extra)
                    coming[index] -= taken
                    starting -= taken
                    extra -= taken
                ready -= extra
    return 0
