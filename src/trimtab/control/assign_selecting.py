"""Selectors over assign policies: every interval one of them is chosen, and plans."""

from __future__ import annotations

from typing import Any

import numpy as np

from trimtab.control.assign_windows import AssignWindows
from trimtab.control.assigning import AssignLoop, View
from trimtab.control.futures import AssignFuture
from trimtab.control.select_guard import SelectGuard
from trimtab.control.selecting import Selection
from trimtab.control.selector_host import SelectorHost
from trimtab.policies.assign.contract import Ints
from trimtab.policies.assign.runtime import runtime_of
from trimtab.policies.select.contract import AssignState, WindowOutcome


class AssignSelectLoop:
    """Asks a selector at the start of every interval, and lets the policy that it names plan.

    A selector that has weights runs on the awake host with the least CPU utilisation: it reads them from shared
    storage and computes there, both are paid at that host's price, and the scheduler begins when it is done. Where
    all hosts sleep, the cheapest is woken for it, and an interval that is over before that gets no new plan.
    One that compares plans (``compares``) has all candidates plan at the same time, and pays for each of them.
    """

    def __init__(self, selection: Selection, loop: AssignLoop, seed: int) -> None:
        self.selection, self.loop = selection, loop
        self.guard = SelectGuard(selection.selector, selection.situation)
        self.bands: list[tuple[float, str]] = []
        """(time, policy) of every change."""
        self.choices: dict[str, int] = dict.fromkeys(selection.situation.candidates, 0)
        self.estimates: list[tuple[float, dict[str, float]]] = []
        """(time, what each candidate is expected to cost), of a selector that says so."""
        self.windows = AssignWindows(loop)
        for policy in selection.policies.values():
            policy.reset(seed)
        loop.watchers = tuple(selection.policies.values())
        selection.selector.reset(selection.situation, seed)
        self._using = selection.situation.fallback
        self.host = SelectorHost(loop)
        self._learned = 0.0
        """Seconds that the selector learned since its last choice."""

    def tick(self) -> None:
        """An interval begins."""
        loop, now = self.loop, self.loop.platform.simulation.now
        view = loop.look()
        features = self.windows.close(view)
        began = loop.clock()
        self.guard.learn(self._outcome())
        self._learned += loop.clock() - began
        loop.took = loop.delay = 0.0
        if len(view.slots) > 0:
            self._plan(view, features, now)
        loop.count_waiting()

    def _outcome(self) -> WindowOutcome:
        last = self.loop.last
        in_time = last.completed - last.late
        return WindowOutcome(self._using, in_time, last.late + last.failed, 0, last.phi, self.loop.took)

    def _plan(self, view: View, features: Any, now: float) -> None:
        loop = self.loop
        if self._hosted:
            loop.delay = self.host.wait(self.windows.utilisation(features), view.hosts)
        if loop.delay >= loop.interval:
            # nobody is awake to run the selector on, and nobody will be in time: the last plan stays
            loop.late_plans += 1
            return
        plans = self._proposals(view) if getattr(self.selection.selector, "compares", False) else {}
        chosen, thought = self._choice(view, features, plans, now)
        loop.thinking += thought
        loop.delay += self._run(view, thought)
        if chosen in plans:
            loop.expect(view, plans[chosen], loop.delay + loop.took + loop.latency)
        else:
            loop.take(view, self.selection.policies[chosen])

    @property
    def _size(self) -> int:
        """Bytes of weights; one that has none runs nowhere."""
        return int(getattr(self.selection.selector, "size", 0))

    @property
    def _hosted(self) -> bool:
        return self._size > 0 and self.loop.scheduling is not None

    def _choice(self, view: View, features: Any, plans: dict[str, Ints], now: float) -> tuple[str, float]:
        """The policy of the interval, and how long the selector learned and chose."""
        situation = self.selection.situation
        foresee = getattr(self.selection.selector, "foresee", None)
        if foresee is not None:
            foresee(AssignFuture(self.loop.platform.simulation, self.selection.policies, situation))
        demand = len(view.slots) / situation.window
        state = AssignState(
            self._using, features, np.ones(1), demand, view.tasks, view.hosts, view.current, plans
        )  # fmt: skip
        began = self.loop.clock()
        chosen = self.guard.choose(state, now)
        thought = self.loop.clock() - began + self._learned
        self._learned = 0.0
        if not self.bands or self.bands[-1][1] != chosen:
            self.bands.append((now, chosen))
        self.choices[chosen] += 1
        expected = getattr(self.selection.selector, "expected", None)
        if expected is not None:
            self.estimates.append((now, dict(expected)))
        self._using = chosen
        return chosen, thought

    def _proposals(self, view: View) -> dict[str, Ints]:
        """The plan of every candidate; functions run at the same time, the slowest is waited for.

        A policy is one function: its versions with other parameters plan in one call, one after the other.
        """
        loop, plans, seconds = self.loop, {}, dict[str, float]()
        for name, policy in self.selection.policies.items():
            plans[name], elapsed = loop.planned(policy, view)
            seconds[policy.name] = seconds.get(policy.name, 0.0) + loop.seconds_of(policy, view, elapsed)
        for each in seconds.values():
            loop.call(each)
        loop.took = max(seconds.values())
        return plans

    def _run(self, view: View, thought: float) -> float:
        """The selector's own run: reads its weights and computes; returns its seconds."""
        selector, scheduling = self.selection.selector, self.loop.scheduling
        if not self._hosted or scheduling is None:
            return 0.0
        tasks, hosts = len(view.slots), len(view.hosts.cores)
        modelled = runtime_of(selector.name, scheduling.runtime).seconds(tasks, hosts)
        seconds = self._size / scheduling.storage + (thought if self.loop.measured else modelled)
        self.host.pay(seconds, view.hosts)
        return seconds

    def notes(self) -> list[str]:
        """What a reader must know: where the guard stepped in, and how often each candidate was chosen."""
        found = [f"guard: {reason}, {count} times" for reason, count in sorted(self.guard.events.items())]
        total = max(sum(self.choices.values()), 1)
        most = max(self.choices, key=lambda name: self.choices[name])
        return [
            *found,
            f"{most} planned in {100 * self.choices[most] / total:.0f} % of the intervals, more than any other",
        ]

    def meters(self) -> dict[str, float]:
        """Figures of the choices."""
        total = max(sum(self.choices.values()), 1)
        found = {"largest_share": max(self.choices.values()) / total, "switches": float(max(len(self.bands) - 1, 0))}
        return found | ({"scheduling_kwh": self.host.kwh} if self._hosted else {})
