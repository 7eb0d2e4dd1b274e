"""The hybrid histogram keep-alive of "Serverless in the Wild" (Shahrad et al., USENIX ATC 2020).

By function, idle times fall into bins. The head of the histogram says when to load an instance again, the
tail how long to keep it; idle times beyond its range, or too few of them, mean the standard keep-alive.
The paper forecasts functions that are mostly out of range by ARIMA; here they get the standard time too.
"""

from __future__ import annotations

from trimtab.sim.kernel import kernel, routine

_ENOUGH = 10


@routine
def learn_idle_time(core, idle_times, function_index):
    """Count the idle time that an arrival ends, and set the function's windows from the histogram."""
    world = core.world[0]
    function = core.functions[function_index]
    if function.inflight > 0 or function.served == 0:
        return
    idle = world.now - function.last_end
    bins = world.hybrid_bins
    position = int(idle / world.hybrid_width)
    function.idle_count += 1
    if position >= bins:
        function.idle_outside += 1
    else:
        idle_times[function_index * bins + position] += 1
    inside = function.idle_count - function.idle_outside
    if inside < _ENOUGH or function.idle_outside > inside:
        function.prewarm = 0.0
        function.keep_alive = world.keep_alive
        return
    head = percentile(idle_times, function_index * bins, bins, world.hybrid_head * inside)
    tail = percentile(idle_times, function_index * bins, bins, world.hybrid_tail * inside) + 1
    first = head * world.hybrid_width * (1.0 - world.hybrid_margin)
    last = tail * world.hybrid_width * (1.0 + world.hybrid_margin)
    if first < world.hybrid_width:
        first = 0.0  # a call may come at once: stay loaded
    function.prewarm = first
    function.keep_alive = last - first


@kernel
def percentile(idle_times, start, bins, count):
    """The bin in which the ``count``-th idle time lies."""
    seen = 0
    for position in range(bins):
        seen += idle_times[start + position]
        if seen >= count:
            return position
    return bins - 1
