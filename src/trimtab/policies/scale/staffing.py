"""The arithmetic of ``residual``, compiled: from what is seen at a tick to instances and cores of one.

Everything is in an array of floats, so that the control loop, a unit test and the direct search that trains the
weights all run the same lines.
"""

from __future__ import annotations

import math

from trimtab.sim.kernel import entry, kernel

# Places in the memory of one function.
(
    STARTED, FAST, SLOW, SLOWER, VOLATILITY, AHEAD_TIME, AHEAD_LOAD, AHEAD_PEAK, WORK, VIOLATED, ARRIVED, COUNT,
    BELOW_SINCE, BELOW_MOST, TOKENS, BASE_CPU, CPU, CALM_SINCE, MARGIN, AGE, PAST, NEXT_PAST, NEEDED, PUSH,
    SHORT_SINCE, REVIEWED,
) = range(26)  # fmt: skip
PASTS = 64
"""Forecasts that are kept until the time they are about has come: time, load, worth of one unit of margin."""
CELLS, CELL, LOWEST = 96, 0.25, -2.0
"""A histogram of the margins that would have been enough: its cells, their width, where the first begins."""
FORECASTS = 26
MARGINS = FORECASTS + 3 * PASTS
MEMORY = MARGINS + CELLS

# Places in the tick that goes in.
(
    NOW, WINDOW, ARRIVALS, VIOLATIONS, COMPLETIONS, QUEUED, READY, CONCURRENCY, START_UP, SERVICE, CPU_LIMIT,
) = range(11)  # fmt: skip
TICK = 11

# Places in the settings: what a user may set.
TARGET, BOOST, MINIMUM, PERIOD, FIXED_MARGIN = range(5)
SETTINGS = 5

FEATURES = (
    "floor", "power", "volatility", "rise", "trend", "backlog", "constant", "fast", "slow", "band", "down_delay",
    "target", "target_slope", "prior", "gain", "spare", "patience", "push", "pace",
)  # fmt: skip
(
    W_FLOOR, W_POWER, W_VOLATILITY, W_RISE, W_TREND, W_BACKLOG, W_CONSTANT, W_FAST, W_SLOW, W_BAND, W_DOWN_DELAY,
    W_TARGET, W_SLOPE, W_PRIOR, W_GAIN, W_SPARE, W_PATIENCE, W_PUSH, W_PACE,
) = range(19)  # fmt: skip
"""Learned weights: what is always added; how the worth of a margin depends on the load and on what was seen; the load
ahead; windows; the margin to begin with and how it follows the violations."""

CHANGES_PER_HOUR = 200.0
BURST_OF_CHANGES = 10.0
"""Changes that may follow each other at once; those of any hour stay below ``CHANGES_PER_HOUR``."""
_SLOWER, _WORK_MEMORY, _VOLATILITY_MEMORY = 60.0, 60.0, 900.0
_LEAST_AIM, _MOST_AIM = 0.1, 10.0
_MOST_PUSH = 12.0
"""Units of margin that violations push it by at most."""
_REVIEW = 10.0
"""Seconds between two looks at the margin."""
_BUDGET_MEMORY = 86_400.0
"""Seconds over which violations count: a day."""
_DRAIN = 0.5
"""Seconds in which a boost works off what waits."""
_BOOST_CORES, _BOOST_SHARE = 1.0, 0.45
"""Cores above the load that a boost is for, and square roots of the load by unit of margin."""
_CPU_STEPS = 20.0
"""Sizes between the first and twice that."""
_CALM = 5.0
"""Seconds that less must be enough before a boost is taken back."""


@kernel
def smooth(old, value, elapsed, memory):
    """Exponential smoothing over ``memory`` seconds."""
    return old + (value - old) * (1.0 - math.exp(-elapsed / memory))


@kernel
def begin(memory, tick):
    """The first tick: what is seen is all that is known."""
    rate = tick[ARRIVALS] / tick[WINDOW]
    memory[:] = 0.0
    memory[STARTED] = 1.0
    memory[FAST] = rate
    memory[SLOW] = rate
    memory[SLOWER] = rate
    memory[VOLATILITY] = 0.3
    memory[AHEAD_TIME] = tick[NOW]
    memory[AHEAD_LOAD] = -1.0
    memory[WORK] = tick[SERVICE] * tick[CPU_LIMIT]
    memory[BELOW_SINCE] = tick[NOW]
    memory[TOKENS] = BURST_OF_CHANGES
    memory[BASE_CPU] = tick[CPU_LIMIT]
    memory[CPU] = tick[CPU_LIMIT]
    memory[CALM_SINCE] = tick[NOW]
    memory[SHORT_SINCE] = tick[NOW]
    memory[REVIEWED] = -math.inf


@kernel
def load_now(memory, tick, weights):
    """Offered load in cores: the slow average where the fast one does not contradict it."""
    elapsed = tick[WINDOW]
    rate = tick[ARRIVALS] / elapsed
    if tick[COMPLETIONS] > 0.0:
        memory[WORK] = smooth(memory[WORK], tick[SERVICE] * tick[CPU_LIMIT], elapsed, _WORK_MEMORY)
    memory[FAST] = smooth(memory[FAST], rate, elapsed, weights[W_FAST])
    memory[SLOW] = smooth(memory[SLOW], rate, elapsed, weights[W_SLOW])
    memory[SLOWER] = smooth(memory[SLOWER], rate, elapsed, _SLOWER)
    work = memory[WORK]
    band = weights[W_BAND] * math.sqrt(max(memory[FAST], 0.2) / (2.0 * weights[W_FAST])) * work
    fast = memory[FAST] * work
    return min(max(memory[SLOW] * work, fast - band), fast + band)


@kernel
def look_back(memory, now, load, horizon):
    """How far the load rose above what was seen one start-up earlier, in units of its square root."""
    memory[AHEAD_PEAK] = max(memory[AHEAD_PEAK], load)
    elapsed = now - memory[AHEAD_TIME]
    if elapsed < horizon - 1e-9:
        return
    before = memory[AHEAD_LOAD]
    if before >= 0.0:
        rise = max(0.0, memory[AHEAD_PEAK] - before) / math.sqrt(max(before, 1.0))
        memory[VOLATILITY] = smooth(memory[VOLATILITY], rise * rise, elapsed, _VOLATILITY_MEMORY)
    memory[AHEAD_TIME] = now
    memory[AHEAD_LOAD] = load
    memory[AHEAD_PEAK] = load


@kernel
def remember(memory, now, load, scale):
    """Keep a forecast: ``load`` and what one unit of margin is worth, until one start-up has passed."""
    place = int(memory[NEXT_PAST]) % PASTS
    memory[FORECASTS + 3 * place] = now
    memory[FORECASTS + 3 * place + 1] = load
    memory[FORECASTS + 3 * place + 2] = scale
    memory[NEXT_PAST] += 1.0


@kernel
def compare(memory, now, horizon, load, arrivals):
    """Count the margin that the forecast of one start-up ago needed to cover ``load``."""
    while memory[PAST] < memory[NEXT_PAST]:
        place = int(memory[PAST]) % PASTS
        if memory[NEXT_PAST] - memory[PAST] < PASTS and memory[FORECASTS + 3 * place] > now - horizon + 1e-9:
            return
        memory[PAST] += 1.0
        before, scale = memory[FORECASTS + 3 * place + 1], memory[FORECASTS + 3 * place + 2]
        needed = (load - before) / max(scale, 1e-9)
        cell = int(min(max((needed - LOWEST) / CELL, 0.0), CELLS - 1.0))
        memory[MARGINS + cell] += arrivals
        memory[NEEDED] += arrivals


@kernel
def count(memory, tick):
    """Add up what came and what was late; a day later it is forgotten."""
    fade = math.exp(-tick[WINDOW] / _BUDGET_MEMORY)
    memory[VIOLATED] = memory[VIOLATED] * fade + tick[VIOLATIONS]
    memory[ARRIVED] = memory[ARRIVED] * fade + tick[ARRIVALS]
    memory[AGE] = memory[AGE] * fade + tick[WINDOW]


@kernel
def margin(memory, now, settings, weights):
    """The margin that would have kept violations at the target.

    The share of requests that came when more than z was needed falls with z: as learned at first (exponentially),
    then as seen. Where more violations are seen than asked for, or fewer, another share is aimed for.
    """
    if not math.isnan(settings[FIXED_MARGIN]):
        return settings[FIXED_MARGIN]
    elapsed = now - memory[REVIEWED]
    if elapsed < _REVIEW - 1e-9:
        return memory[MARGIN]
    memory[REVIEWED] = now
    target = settings[TARGET]
    believed = weights[W_PATIENCE] * memory[ARRIVED] / max(memory[AGE], 1e-9) + 1.0
    seen = (memory[VIOLATED] / target + believed) / (memory[ARRIVED] + believed)
    # quiet proves less than violations do: what makes requests late comes in bursts
    power = weights[W_GAIN] if seen > 1.0 else weights[W_SPARE]
    aimed = target * min(max(seen**-power, _LEAST_AIM), _MOST_AIM)
    if math.isfinite(elapsed):
        fade = math.exp(-elapsed / _BUDGET_MEMORY)
        memory[NEEDED] *= fade
        for cell in range(CELLS):
            memory[MARGINS + cell] *= fade
        # whatever else makes requests late, the margin goes on moving until the target is kept
        move = weights[W_PUSH] * min(max(math.log(seen), -1.0), 1.0) * elapsed / 3600.0
        memory[PUSH] = min(max(memory[PUSH] + move, LOWEST), _MOST_PUSH)
    found = max(covered(memory, weights, aimed) + memory[PUSH], LOWEST)
    # an even margin costs less than one that goes up and down
    return found if not math.isfinite(elapsed) else smooth(memory[MARGIN], found, elapsed, weights[W_PACE])


@kernel
def covered(memory, weights, aimed):
    """The margin that all but the share ``aimed`` of the requests did with."""
    prior = weights[W_PRIOR] * memory[ARRIVED] / max(memory[AGE], 1e-9) + 1e-9
    total, above = memory[NEEDED] + prior, 0.0
    for back in range(CELLS):
        cell = CELLS - 1 - back
        lower = LOWEST + CELL * cell
        believed = prior * min(0.01 * math.exp((weights[W_TARGET] - lower) / weights[W_SLOPE]), 1.0)
        inside = memory[MARGINS + cell]
        if above + inside + believed >= aimed * total:
            # inside the cell: where the line between its two ends crosses
            upper = above + prior * min(0.01 * math.exp((weights[W_TARGET] - lower - CELL) / weights[W_SLOPE]), 1.0)
            share = (above + inside + believed - aimed * total) / max(above + inside + believed - upper, 1e-12)
            return lower + CELL * min(max(share, 0.0), 1.0)
        above += inside
    return LOWEST


@kernel
def settle(memory, now, elapsed, proposal, delay):
    """Up at once, down when it has lasted; never more than ``CHANGES_PER_HOUR``."""
    refill = (CHANGES_PER_HOUR - BURST_OF_CHANGES) / 3600.0
    memory[TOKENS] = min(memory[TOKENS] + refill * elapsed, BURST_OF_CHANGES)
    count = memory[COUNT]
    if count == 0.0:
        memory[COUNT] = proposal
        return
    if proposal >= count:
        memory[BELOW_SINCE] = now
        memory[BELOW_MOST] = 0.0
        if proposal > count and memory[TOKENS] >= 1.0:
            memory[COUNT] = proposal
            memory[TOKENS] -= 1.0
        return
    memory[BELOW_MOST] = max(memory[BELOW_MOST], proposal)
    # half of the changes in stock are kept for the way up
    if now - memory[BELOW_SINCE] >= delay - 1e-9 and memory[TOKENS] >= 0.5 * BURST_OF_CHANGES:
        memory[COUNT] = memory[BELOW_MOST]
        memory[BELOW_SINCE] = now
        memory[BELOW_MOST] = 0.0
        memory[TOKENS] -= 1.0


@kernel
def boost(memory, tick, settings):
    """Cores of one instance: what the load of this moment needs from the instances that are ready."""
    base, most = memory[BASE_CPU], memory[BASE_CPU] * settings[BOOST]
    if settings[BOOST] <= 1.0:
        memory[CPU] = base
        return
    fast = memory[FAST] * memory[WORK]
    need = fast + _BOOST_CORES + _BOOST_SHARE * max(memory[MARGIN], 0.0) * math.sqrt(fast)
    need += tick[QUEUED] * memory[WORK] / _DRAIN
    ready = max(tick[READY], 1.0) * tick[CONCURRENCY]
    wanted = min(max(math.ceil(need / ready / base * _CPU_STEPS - 1e-9) / _CPU_STEPS * base, base), most)
    if wanted >= memory[CPU]:
        memory[CPU] = wanted
        memory[CALM_SINCE] = tick[NOW]
    elif tick[NOW] - memory[CALM_SINCE] >= _CALM - 1e-9:
        memory[CPU] = wanted
        memory[CALM_SINCE] = tick[NOW]


@kernel
def backlog(memory, tick, load, horizon):
    """Work in core-seconds that will wait when what is ordered now is ready: what waits, and what comes too early."""
    short = load - tick[READY] * tick[CONCURRENCY] * memory[CPU]
    if short <= 0.0:
        memory[SHORT_SINCE] = tick[NOW]
    until = max(horizon - (tick[NOW] - memory[SHORT_SINCE]), 0.0)
    return tick[QUEUED] * memory[WORK] + max(short, 0.0) * until


@kernel
def unit(memory, weights, ahead, slope, horizon):
    """Cores that one unit of margin is worth at the load ``ahead``."""
    usual = max(memory[ARRIVED] / max(memory[AGE], 1e-9) * memory[WORK], 0.1)
    rise = max(0.0, slope) * horizon / math.sqrt(ahead)
    restless = 1.0 + weights[W_VOLATILITY] * memory[VOLATILITY] + weights[W_RISE] * rise * rise
    return math.sqrt(usual * restless) * (ahead / usual) ** weights[W_POWER]


@entry
def plan(memory, tick, settings, weights):
    """One decision: leaves instances in ``memory[COUNT]`` and cores of one in ``memory[CPU]``."""
    if memory[STARTED] == 0.0:
        begin(memory, tick)
    now, elapsed = tick[NOW], tick[WINDOW]
    load = load_now(memory, tick, weights)
    horizon = tick[START_UP] + settings[PERIOD]
    look_back(memory, now, load, horizon)
    count(memory, tick)
    slope = (memory[SLOW] - memory[SLOWER]) * memory[WORK] / (_SLOWER - weights[W_SLOW])
    ahead = max(load + weights[W_TREND] * slope * horizon, 0.1)
    worth = unit(memory, weights, ahead, slope, horizon)
    always = ahead + weights[W_CONSTANT] + weights[W_FLOOR] * math.sqrt(ahead)
    compare(memory, now, horizon, memory[FAST] * memory[WORK], tick[ARRIVALS])
    remember(memory, now, always, worth)
    z = margin(memory, now, settings, weights)
    memory[MARGIN] = z
    slots = always + z * worth + weights[W_BACKLOG] * backlog(memory, tick, load, horizon)
    # a boost covers what comes suddenly, so instances need only cover what stays
    slots /= max(settings[BOOST], 1.0)
    slots = max(slots, load) / memory[BASE_CPU]
    proposal = max(math.ceil(slots / tick[CONCURRENCY] - 1e-9), settings[MINIMUM])
    settle(memory, now, elapsed, proposal, weights[W_DOWN_DELAY])
    boost(memory, tick, settings)
    return 0
