"""Every scale policy that a selector may choose sees what happens, and says what it would ask for.

Each is asked at its own period and sees figures of that period, just as if it were alone: a forecast is warm when its
policy is switched in, and a policy that is never switched out decides as it does without a selector.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from trimtab.control.feed import MetricsFeed
from trimtab.control.guards import ScaleGuard
from trimtab.control.simulated import SimulatedPlatform
from trimtab.policies.assign.contract import Ints
from trimtab.policies.scale.contract import HOLD, Desired, ScalePolicy
from trimtab.sim.simulation import Simulation

_EDGE = 1e-9


class _Clock:
    """Candidates with one period: they see the same metrics at the same time."""

    def __init__(self, simulation: Simulation, period: float, delay: float, names: tuple[str, ...]) -> None:
        self.period, self.names = period, names
        self.feed = MetricsFeed(SimulatedPlatform(simulation), delay)
        self.latency = np.zeros_like(simulation.core.latency)
        """Latencies that others have looked at since this one looked: the engine keeps one histogram for all."""
        self.due = _following(simulation.now, period)

    def branch(self, before: Simulation, after: Simulation, names: Collection[str]) -> _Clock:
        """The same in a branch of the run, for some of its candidates."""
        other = copy.copy(self)
        other.names = tuple(name for name in self.names if name in names)
        other.feed, other.latency = copy.deepcopy((self.feed, self.latency), {id(before): after})
        return other


class ScaleWatch:
    """The candidates, what each remembers of every function, and what it last asked for."""

    def __init__(self, simulation: Simulation, policies: Mapping[str, ScalePolicy]) -> None:
        self.simulation = simulation
        control, functions = simulation.scenario.control, len(simulation.deployed)
        self.guards = {
            name: ScaleGuard(policy, control.minimum, control.maximum, control.cpu_minimum, control.cpu_maximum)
            for name, policy in policies.items()
        }
        self.states: dict[str, list[Any]] = {name: [None] * functions for name in policies}
        self.answers: dict[str, list[Desired]] = {name: [HOLD] * functions for name in policies}
        self.decided: frozenset[str] = frozenset()
        """Candidates that were asked at the last tick."""
        periods = {name: control.period or policy.period for name, policy in policies.items()}
        self._clocks = [
            _Clock(simulation, each, control.metrics_delay, tuple(name for name in policies if periods[name] == each))
            for each in sorted(set(periods.values()))
        ]

    @property
    def periods(self) -> tuple[float, ...]:
        """When it has to be called: at every multiple of these."""
        return tuple(clock.period for clock in self._clocks)

    def tick(self) -> None:
        """Ask every candidate that is due now."""
        latency, now = self.simulation.core.latency, self.simulation.now
        seen, decided = latency.copy(), list[str]()
        for clock in self._clocks:
            clock.latency += seen
            if now >= clock.due - _EDGE:
                clock.due = _following(now, clock.period)
                latency[:] = clock.latency
                self._ask(clock, now)
                # what was not looked at, because metrics were stale, stays for the next time
                clock.latency = latency.copy()
                decided += clock.names
        latency[:] = 0
        self.decided = frozenset(decided)

    def _ask(self, clock: _Clock, now: float) -> None:
        for index, metrics in enumerate(clock.feed.observe(now) or ()):
            for name in clock.names:
                answer, state = self.guards[name].decide(metrics, self.states[name][index], now)
                self.answers[name][index], self.states[name][index] = answer, state

    def act(self, platform: SimulatedPlatform, name: str) -> int:
        """Carry out what a candidate asks for, if it was asked now; returns how many functions changed."""
        if name not in self.decided:
            return 0
        return sum(platform.act(index, desired) for index, desired in enumerate(self.answers[name]))

    def asked(self) -> dict[str, Ints]:
        """Instances of each function that each candidate wants."""
        current = self.current()
        return {name: np.array([_wanted(*each) for each in zip(answers, current)], np.int32)
                for name, answers in self.answers.items()}  # fmt: skip

    def current(self) -> Ints:
        """Instances of each function that are up or on their way."""
        functions = self.simulation.core.functions
        return np.asarray(functions["ready"] + functions["starting"], np.int32)

    def branch(self, simulation: Simulation, names: Collection[str]) -> ScaleWatch:
        """Some of the candidates in a branch of the run: what they remember goes along."""
        other = copy.copy(self)
        other.simulation = simulation
        # states are never changed in place, so the lists are all that has to be copied
        other.states = {name: list(self.states[name]) for name in names}
        other.answers = {name: list(self.answers[name]) for name in names}
        clocks = [clock.branch(self.simulation, simulation, names) for clock in self._clocks]
        other._clocks = [clock for clock in clocks if clock.names]
        return other

    def notes(self) -> list[str]:
        """Where the guard of a candidate stepped in, in use or not."""
        return [
            f"guard: {name}: {reason}, {count} times"
            for name, guard in self.guards.items()
            for reason, count in sorted(guard.events.items())
        ]


def _following(now: float, period: float) -> float:
    """The first multiple of a period after now."""
    return (math.floor(now / period + _EDGE) + 1) * period


def _wanted(answer: Desired, current: int) -> int:
    return answer.instances if answer.valid and answer.instances is not None else int(current)
