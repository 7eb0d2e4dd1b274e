"""A run as somebody without foresight imagines it to go on: what is left of tasks, and arrivals, drawn anew.

What the platform can know stays: where tasks are, what they have done, the mix and the rate of the last minutes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trimtab.control.simulated import work_done
from trimtab.sim import records
from trimtab.sim.simulation import Simulation
from trimtab.sim.tasks import redraw
from trimtab.workload.work import draw_rest, draw_work

_MINUTES = 300.0
"""Seconds over which rate and mix are observed."""
_PRIOR = 0.5
"""Arrivals of each application that are taken as seen: one that was not seen lately may come all the same."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def imagine(simulation: Simulation, seconds: float, random: np.random.Generator) -> Simulation:
    """A branch of the run with a drawn future for so many seconds; the run itself is untouched."""
    twin = simulation.branch()
    twin.core = twin.core._replace(results=twin.core.results.copy())
    _redraw_tasks(twin, random)
    _redraw_arrivals(twin, seconds, random)
    return twin


def _redraw_tasks(twin: Simulation, random: np.random.Generator) -> None:
    slots = twin.tasks()
    rows = twin.core.active[slots]
    done = work_done(twin, rows)
    left = draw_rest(twin.scenario.functions, rows["function"], done, random)
    work = twin.columns.work.copy()
    work[rows["id"]] = done + left
    twin.columns = twin.columns._replace(work=work)
    twin.reserve(len(slots) + len(twin.core.hosts))
    redraw(twin.core, slots, left)


def _redraw_arrivals(twin: Simulation, seconds: float, random: np.random.Generator) -> None:
    world, columns = twin.core.world[0], twin.columns
    known = int(world["next_request"])
    arrival, function = _arrivals(twin, known, seconds, random)
    work = draw_work(twin.scenario.functions, function, random)
    twin.columns = columns._replace(
        arrival=np.concatenate([columns.arrival[:known], arrival]),
        function=np.concatenate([columns.function[:known], function]),
        work=np.concatenate([columns.work[:known], work]),
        off_cpu=np.resize(columns.off_cpu, known + len(arrival)) if len(columns.off_cpu) else columns.off_cpu,
    )
    if len(twin.sources) > 0:
        seen = twin.sources[:known] if known > 0 else twin.sources[:1]
        twin.sources = np.concatenate([twin.sources[:known], random.choice(seen, len(arrival))])
    results = np.zeros(known + len(arrival), records.RESULT)
    results[:known] = twin.core.results[:known]
    fresh = results[known:]
    fresh["completion"] = fresh["start"] = np.nan
    fresh["host"] = fresh["worker"] = records.NONE
    fresh["status"] = records.PENDING
    twin.core = twin.core._replace(results=results)
    world["requests"] = known + len(arrival)


def _arrivals(twin: Simulation, known: int, seconds: float, random: np.random.Generator) -> tuple[Floats, Ints]:
    """Poisson arrivals at the rate and in the mix of the last minutes; none after the end of the workload."""
    now, columns = twin.now, twin.columns
    window = min(max(now, 1.0), _MINUTES)
    recent = slice(int(np.searchsorted(columns.arrival[:known], now - window)), known)
    counts = np.bincount(columns.function[recent], minlength=len(twin.scenario.functions)) + _PRIOR
    rate = (counts.sum() - _PRIOR * (len(counts) - 1)) / (window + 1.0)
    span = max(min(seconds, twin.workload.duration - now), 0.0)
    arrival = now + np.sort(random.random(random.poisson(rate * span))) * span
    function = random.choice(len(counts), len(arrival), p=counts / counts.sum()).astype(np.int32)
    return arrival, function
