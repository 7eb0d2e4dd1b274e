"""One run of a scenario of streams on real workers, and its outcome in the columns of a simulation's."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from trimtab.control.run import build_team
from trimtab.control.selecting import SelectLoop
from trimtab.errors import TrimtabError
from trimtab.live.edge.frames import make_frames
from trimtab.live.edge.master import Master
from trimtab.live.edge.monitor import VariantUse
from trimtab.live.edge.scheduler import Decision, Scheduler
from trimtab.live.edge.status import Status
from trimtab.policies import registry
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
from trimtab.sim.results import collect
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

Shown = Callable[[Status], AbstractContextManager[object]]
"""Lets people look at a run while its block runs."""


def _unseen(status: Status) -> AbstractContextManager[object]:
    return nullcontext()


FRAMES = 50
"""Different frames; streams send them in turn."""


@dataclass(frozen=True)
class EdgeRun:
    """What a run leaves behind; columns by query are after the warm-up, as those of the outcome."""

    outcome: Outcome
    stream: npt.NDArray[np.int32]
    found: npt.NDArray[np.int8]
    """1 where the answer holds the face that is there, 0 where not, -1 without an answer or a real worker."""
    use: tuple[VariantUse, ...]
    decisions: tuple[Decision, ...]


def shortened(scenario: Scenario, seconds: float | None) -> Scenario:
    """The scenario with a workload of so many seconds, its warm-up at most a fifth of it."""
    if seconds is None:
        return scenario
    if not math.isfinite(seconds) or seconds <= 0.0:
        raise TrimtabError(f"seconds = {seconds}, must be above 0")
    spec = scenario.workload
    shorter = spec.model_copy(update={"duration": seconds, "warm_up": min(spec.warm_up, seconds / 5.0)})
    return scenario.model_copy(update={"workload": shorter})


def play(
    scenario: Scenario,
    policy: str | None,
    seconds: float | None,
    emulate: bool,
    seed: int,
    progress: Callable[[float], None] = lambda seconds: None,
    shown: Shown = _unseen,
) -> EdgeRun:
    """Deploy the workers, play the workload that the simulator would play, and take everything down again."""
    _check(scenario)
    scenario = shortened(scenario, seconds)
    name = policy or scenario.baseline or "load-balancing"
    decision, short = registry.who(name, scenario.decision)
    team = build_team(scenario, decision, short)
    workload = build_workload(scenario, seed)
    simulation = Simulation(scenario, workload, seed, route=team["route"])
    selection = team["select"]
    for each in selection.policies.values() if selection is not None else ():
        _ = each.compiled  # now, not when it is switched to
    loop = SelectLoop(selection, simulation, seed) if selection is not None else None
    frames = () if emulate else make_frames(FRAMES)
    with Master(simulation.deployed, emulate) as master:
        scheduler = Scheduler(simulation, master, frames, loop)
        status = Status(scheduler, master, loop)

        def second(played: float) -> None:
            status.tick()
            progress(played)

        with shown(status):
            began = time.perf_counter()
            scheduler.play(second)
            wall = time.perf_counter() - began
    return _result(simulation, scheduler, name, wall, loop)


def _check(scenario: Scenario) -> None:
    """Only streams to workers can be played, and nothing breaks on schedule here."""
    if scenario.workload.source != "streams" or not scenario.variants:
        raise TrimtabError(f"scenario {scenario.name!r} has no streams of queries to workers, must have both")
    if scenario.faults:
        raise TrimtabError(f"scenario {scenario.name!r} has faults, real workers know none; remove them")


def _result(simulation: Simulation, scheduler: Scheduler, label: str, wall: float, loop: SelectLoop | None) -> EdgeRun:
    workload = simulation.workload
    kept = slice(int(np.searchsorted(workload.arrival, workload.warm_up)), None)
    outcome = collect(simulation, label, {}, wall)
    samples = np.array(scheduler.samples, np.float64).reshape(-1, 4)
    cpu = np.diff(samples[:, 2], prepend=0.0) / np.diff(samples[:, 0], prepend=0.0)
    series = {"time": samples[:, 0], "inflight": samples[:, 1], "busy_cores": cpu, "instances": samples[:, 3]}
    deciding = sum(each.seconds for each in scheduler.decisions)
    outcome = replace(
        outcome,
        meters=_meters(outcome, scheduler, wall),
        series=series,
        decisions=len(scheduler.decisions),
        decision_seconds=deciding,
    )
    if loop is not None:
        outcome.bands.extend(loop.bands)
        outcome.notes.extend(loop.notes())
    looked = bool((scheduler.found >= 0).any())
    return EdgeRun(
        outcome=outcome,
        stream=workload.stream[kept],
        found=scheduler.found[kept],
        use=scheduler.monitor.use(looked),
        decisions=tuple(scheduler.decisions),
    )


def _meters(outcome: Outcome, scheduler: Scheduler, wall: float) -> dict[str, float]:
    """What was really measured after the warm-up, per core that the scenario's sites have."""
    simulation = scheduler.simulation
    begin = simulation.workload.warm_up
    span = max(wall - begin, 1e-9)
    before = [cpu for when, _, cpu, _ in scheduler.samples if when <= begin + 0.5]
    used = float(scheduler.monitor.cpu.sum()) - (before[-1] if before else 0.0)
    answered = np.isfinite(outcome.completion)
    return {
        "makespan_s": span,
        "busy_core_seconds": used,
        "cpu_utilisation": used / (span * float(simulation.core.hosts["cores"].sum())),
        "mean_inflight": float(outcome.fct[answered].sum()) / span,
    }
