"""Many runs: every policy on every seed, on all cores, each seed's workload drawn once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trimtab.control.fitting import UnfitCandidate
from trimtab.control.run import Team, build_team, decisions_of, run
from trimtab.errors import TrimtabError
from trimtab.policies import registry, trained
from trimtab.policies.assign.machines import Unfit
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
from trimtab.sim.simulation import Stopped
from trimtab.workload.build import build_workload
from trimtab.workload.table import Workload

_POLL = 0.1
"""Seconds between two looks at whether a person pressed Ctrl-C."""
_KEPT_REQUESTS = 50_000_000
"""Workloads of all seeds are kept for the next policy up to this many requests in all."""


@dataclass(frozen=True)
class Entrant:
    """A policy that takes part, under the label that the results carry."""

    label: str
    team: Team
    knob: float | None = None

    @property
    def oracle(self) -> bool:
        """Whether it knows the future."""
        return self.team["select"] is not None and bool(getattr(self.team["select"].selector, "oracle", False))


def entrants(scenario: Scenario, names: Sequence[str]) -> list[Entrant]:
    """Load every policy before anything runs, so that a mistake costs no time."""
    found: list[Entrant] = []
    folders: dict[str, Path] = {}
    for name in names:
        decision, rest = _split(scenario, name)
        team = build_team(scenario, decision, rest)
        label = name
        if rest.endswith(".py"):
            # compiled now, so that a mistake in it shows before other policies have run
            getattr(team[decision], "compiled", None)
            label = str(team[decision].name)
        elif (folder := registry.folder_of(rest)) is not None:
            where = folder.resolve()
            if where in folders.values():
                raise TrimtabError(f"policy = {name!r} is there twice, must be given once")
            # by the folder's name; by the whole path where another policy has that name
            label = where.name if where.name not in (*names, *(each.label for each in found)) else rest
            folders[label] = where
        if any(each.label == label for each in found):
            raise TrimtabError(f"policy = {label!r} is there twice, must be given once")
        found.append(Entrant(label, team))
    if not found:
        raise TrimtabError("policies: none given, must be at least one")
    return found


def fitting(scenario: Scenario, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of the names whose networks know the scenario's machines, and a note on those that do not."""
    if scenario.decision != "assign":
        return list(names), []
    found: list[str] = []
    unfit: dict[str, Unfit] = {}
    for name in names:
        try:
            build_team(scenario, *_split(scenario, name))
        except Unfit as error:
            unfit[name] = error
        else:
            found.append(name)
    if not unfit:
        return found, []
    alone = [name for name, error in unfit.items() if not isinstance(error, UnfitCandidate)]
    over = [name for name in unfit if name not in alone]
    who = [", ".join(alone)] * bool(alone) + [f"selectors over such policies ({', '.join(over)})"] * bool(over)
    why = next(iter(unfit.values())).why
    return found, [f"left out, trained for other hosts: {' and '.join(who)}; {why}; trimtab train makes new ones"]


def _split(scenario: Scenario, name: str) -> tuple[str, str]:
    """The decision that a policy takes, and its name, file or folder; a trained one says itself what it decides."""
    decision, slash, rest = name.partition("/")
    prefixed = bool(slash) and decision in registry.BUILT_IN
    for where in (name, rest) if prefixed else (name,):
        folder = registry.folder_of(where)
        if folder is not None:
            decides = trained.describe(folder).decision
            return decides if decides in (*decisions_of(scenario), "select") else scenario.decision, where
    return registry.who(name, scenario.decision)


class Workloads:
    """The workload of each seed, drawn when it is first needed; the same object for every policy."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._kept: dict[int, Workload] = {}
        self.notes: dict[int, tuple[str, ...]] = {}
        """What a reader must know of each seed's workload: gaps cut out, windows taken, scaling."""
        self._locks: dict[int, threading.Lock] = {}
        self._lock = threading.Lock()

    def __getitem__(self, seed: int) -> Workload:
        with self._lock:
            lock = self._locks.setdefault(seed, threading.Lock())
        with lock:
            if seed in self._kept:
                return self._kept[seed]
            workload = build_workload(self._scenario, seed)
            self.notes[seed] = workload.notes
            if sum(len(each) for each in self._kept.values()) + len(workload) <= _KEPT_REQUESTS:
                self._kept[seed] = workload
            return workload


@dataclass
class Experiment:
    """All runs of a comparison."""

    scenario: Scenario
    entrants: Sequence[Entrant]
    seeds: Sequence[int]
    jobs: int
    measured: bool = False
    """Whether schedulers take the time that they really run, not that of the model."""
    notes: Sequence[str] = ()
    """What a reader must know of who takes part."""
    workloads: Workloads = field(init=False)

    def __post_init__(self) -> None:
        self.workloads = Workloads(self.scenario)

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self.entrants) * len(self.seeds)

    def __iter__(self) -> Generator[tuple[Entrant, Outcome], None, None]:
        """Results in order, policy by policy; threads, because compiled code releases the lock."""
        stop = threading.Event()
        order = [(entrant, seed) for entrant in self.entrants for seed in self.seeds]
        pool = ThreadPoolExecutor(self.jobs)
        try:
            pending = deque(pool.submit(self._run, entrant, seed, stop.is_set) for entrant, seed in order)
            for entrant, _ in order:
                # popped, so that a result lives only as long as its reader wants it
                yield entrant, _result(pending.popleft())
        finally:
            # not waited for: a thread that compiles cannot be stopped, and Ctrl-C must not take a minute
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, entrant: Entrant, seed: int, stop: Callable[[], bool]) -> Outcome:
        try:
            team = entrant.team.copy()
            return run(self.scenario, self.workloads[seed], seed, team, entrant.label, stop, self.measured)
        except (TrimtabError, Stopped, MemoryError):
            raise
        except Exception as error:
            if all(_is_ours(policy) for policy in entrant.team.policies.values()):
                raise
            raise TrimtabError(f"policy {entrant.label!r} fails: {type(error).__name__}: {error}") from error


def _is_ours(policy: Any) -> bool:
    """Whether a policy comes with Trimtab: an error in it is not for the user to mend."""
    policy = getattr(policy, "selector", policy)
    return getattr(policy, "function", type(policy)).__module__.startswith("trimtab.")


def _result(future: Future[Outcome]) -> Any:
    while not future.done():
        wait([future], timeout=_POLL, return_when=FIRST_COMPLETED)
    return future.result()
