"""Selectors over assign policies: every interval one of them is chosen, and plans."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from trimtab.control.assign_windows import AssignWindows
from trimtab.control.assigning import AssignLoop, View
from trimtab.control.futures import AssignFuture
from trimtab.control.select_guard import SelectGuard
from trimtab.control.selecting import Selection
from trimtab.policies.assign.contract import ON, Ints
from trimtab.policies.assign.runtime import runtime_of
from trimtab.policies.select.contract import AssignState, WindowOutcome


class AssignSelectLoop:
    """Asks a selector at the start of every interval, and lets the policy that it names plan.

    A selector that has weights runs on the awake host with the least CPU utilisation: it reads them from shared
    storage and computes there, both are paid at that host's price, and the scheduler begins when it is done.
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

    def tick(self) -> None:
        """An interval begins."""
        loop, now = self.loop, self.loop.platform.simulation.now
        view = loop.look()
        features = self.windows.close(view)
        self.guard.learn(self._outcome())
        loop.took = loop.delay = 0.0
        if len(view.slots) > 0:
            self._plan(view, features, now)
        loop.count_waiting()

    def _outcome(self) -> WindowOutcome:
        last = self.loop.last
        in_time = last.completed - last.late
        return WindowOutcome(self._using, in_time, last.late + last.failed, 0, last.phi, self.loop.took)

    def _plan(self, view: View, features: Any, now: float) -> None:
        loop, selector = self.loop, self.selection.selector
        plans = self._proposals(view) if getattr(selector, "compares", False) else {}
        self._host(features, view)
        began = time.perf_counter()
        chosen = self._choice(view, features, plans, now)
        loop.thinking += time.perf_counter() - began
        if chosen in plans:
            loop.expect(view, plans[chosen], loop.delay + loop.took + loop.latency)
        else:
            loop.take(view, self.selection.policies[chosen])

    def _choice(self, view: View, features: Any, plans: dict[str, Ints], now: float) -> str:
        situation = self.selection.situation
        foresee = getattr(self.selection.selector, "foresee", None)
        if foresee is not None:
            foresee(AssignFuture(self.loop.platform.simulation, self.selection.policies, situation))
        demand = len(view.slots) / situation.window
        state = AssignState(
            self._using, features, np.ones(1), demand, view.tasks, view.hosts, view.current, plans
        )  # fmt: skip
        chosen = self.guard.choose(state, now)
        if not self.bands or self.bands[-1][1] != chosen:
            self.bands.append((now, chosen))
        self.choices[chosen] += 1
        expected = getattr(self.selection.selector, "expected", None)
        if expected is not None:
            self.estimates.append((now, dict(expected)))
        self._using = chosen
        return chosen

    def _proposals(self, view: View) -> dict[str, Ints]:
        """The plan of every candidate; functions run at the same time, the slowest is waited for.

        A policy is one function: its versions with other parameters plan in one call, one after the other.
        """
        loop, plans, seconds = self.loop, {}, dict[str, float]()
        for name, policy in self.selection.policies.items():
            began = time.perf_counter()
            plans[name] = loop.checked(policy, policy.plan(view.tasks, view.hosts, view.current), view)
            elapsed = time.perf_counter() - began
            loop.thinking += elapsed
            seconds[policy.name] = seconds.get(policy.name, 0.0) + loop.seconds_of(policy, view, elapsed)
        for each in seconds.values():
            loop.call(each)
        loop.took = max(seconds.values())
        return plans

    def _host(self, features: Any, view: View) -> None:
        """The selector's own run, on the host that has the least to do."""
        selector, loop = self.selection.selector, self.loop
        size = getattr(selector, "size", 0)
        if not size or loop.scheduling is None:
            return
        busy = self.windows.utilisation(features)
        awake = np.flatnonzero(view.hosts.state == ON)
        host = int(awake[np.argmin(busy[awake])]) if len(awake) else int(np.argmin(view.hosts.price))
        computing = runtime_of(selector.name, loop.scheduling.runtime).seconds(len(view.slots), len(view.hosts.cores))
        seconds = size / loop.scheduling.storage + computing
        core_second = float(view.hosts.price[host] / view.hosts.cores[host]) / 3600.0
        loop.charge(seconds * core_second, 0.0, calls=0)
        loop.delay = seconds

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
        return {"largest_share": max(self.choices.values()) / total, "switches": float(max(len(self.bands) - 1, 0))}
