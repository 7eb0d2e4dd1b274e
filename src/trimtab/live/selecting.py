"""Who places calls: every window a selector chooses one of several place policies, on what came of the last one."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from trimtab.control.select_guard import SelectGuard
from trimtab.control.selecting import choices_of
from trimtab.errors import TrimtabError, unknown
from trimtab.live.windows import FEATURES, CallWindows
from trimtab.policies import registry
from trimtab.policies.select.contract import SelectPolicy, Situation, State
from trimtab.scenario.model import Scenario

if TYPE_CHECKING:
    from trimtab.live.platform import Platform

SELECTORS = tuple(registry.BUILT_IN["select"])
"""Those that learn from nothing, or not at all: trained ones know the policies of another decision."""
CANDIDATES = ("hashing", "round-robin", "least-connections", "warm-first", "drain-ahead")
"""What is chosen from, unless ``parameters.select.candidates`` of the scenario says otherwise."""


def selection_of(scenario: Scenario, name: str) -> tuple[SelectPolicy, Situation]:
    """A selector over place policies; ``TrimtabError`` if it is none, or its candidates will not do."""
    if name not in SELECTORS:
        if name in registry.LEARNED["select"] or name in registry.ORACLES["select"]:
            raise TrimtabError(
                f"select policy = {name!r} cannot choose among place policies, must be one of: {', '.join(SELECTORS)}"
            )
        raise unknown("select policy", name, SELECTORS)
    given = scenario.parameters.get(f"select/{name}", scenario.parameters.get(name, {}))
    # without the scenario's name: a bandit that was trained for one has learned about other policies
    selector = registry.load("select", name, dict(given) or None)
    candidates, fallback = choices_of(scenario, selector, CANDIDATES)
    return selector, Situation("place", candidates, fallback, FEATURES, scenario.control.window)


class Selecting:
    """The loop around a selector; without one, the place policy stays until it is switched by hand."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.events: Counter[str] = Counter()
        self._guard: SelectGuard | None = None
        self._windows: CallWindows
        self._using, self._due = "", 0.0

    @property
    def name(self) -> str | None:
        """The selector that chooses."""
        return None if self._guard is None else self._guard.selector.name

    def prepare(self, name: str) -> None:
        """Load and compile every candidate; the first time may take minutes, so call it in a thread."""
        for each in selection_of(self.platform.scenario, name)[1].candidates:
            self.platform.placer.seat_of(each)

    def switch(self, name: str | None) -> None:
        """From now on this selector chooses; None: nobody does, and the policy chosen last stays."""
        if name is None:
            self._guard = None
            return
        self.prepare(name)
        platform, now = self.platform, self.platform.clock()
        selector, situation = selection_of(platform.scenario, name)
        selector.reset(situation, 0)
        self._guard = SelectGuard(selector, situation, self.events)
        self._windows = CallWindows(platform.functions, platform.servers, now)
        self._using, self._due = platform.placer.seat.policy.name, now + situation.window
        self._choose(self._guard, self._windows.close(self._using, now)[0], now)

    def tick(self) -> None:
        """Several times a second: look at what is in flight, and choose when a window is over."""
        guard, now = self._guard, self.platform.clock()
        if guard is None:
            return
        self._windows.sample(now)
        if now < self._due:
            return
        self._due = max(self._due + guard.situation.window, now)
        state, outcome = self._windows.close(self._using, now)
        guard.learn(outcome)
        self._choose(guard, state, now)

    def _choose(self, guard: SelectGuard, state: State, now: float) -> None:
        before, began = Counter(self.events), time.perf_counter()
        chosen = guard.choose(state, now)
        seconds = time.perf_counter() - began
        stepped_in = next(iter(self.events - before), None)
        if chosen != self._using:
            self.platform.switch_place(chosen)
        self._using = chosen
        self.platform.audit.note(
            "select", None, guard.selector.name, chosen, list(guard.situation.candidates), None, seconds, stepped_in
        )
