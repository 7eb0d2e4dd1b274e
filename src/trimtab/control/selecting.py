"""Selectors in a run: which policies they choose from, and the loop that asks them window by window."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from trimtab.control.assign_windows import assign_feature_names
from trimtab.control.futures import RouteFuture
from trimtab.control.scale_windows import scale_feature_names
from trimtab.control.select_guard import SelectGuard
from trimtab.control.windows import STEP, RouteWindows, feature_names
from trimtab.errors import TrimtabError, unknown
from trimtab.policies import registry, trained
from trimtab.policies.select.contract import CANDIDATES, SelectPolicy, Situation
from trimtab.scenario.model import Scenario
from trimtab.sim.simulation import Simulation

_SETTINGS = ("candidates", "fallback")
"""What ``parameters.select`` may hold."""


@dataclass(frozen=True)
class Selection:
    """A selector with the policies that it chooses from."""

    selector: SelectPolicy
    policies: dict[str, Any]
    situation: Situation

    @property
    def name(self) -> str:
        """The selector's."""
        return self.selector.name

    @property
    def fallback(self) -> Any:
        """The policy that decides where the selector cannot."""
        return self.policies[self.situation.fallback]

    def copy(self) -> Selection:
        """The same with a selector of its own: runs must not share what it remembers, nor what assign policies do."""
        remember = self.situation.decision == "assign"
        policies = copy.deepcopy(self.policies) if remember else self.policies
        return Selection(copy.deepcopy(self.selector), policies, self.situation)


def build_selection(scenario: Scenario, name: str, parameters: dict[str, Any] | None = None) -> Selection:
    """A selector over the scenario's decision, with every candidate loaded."""
    if scenario.decision not in CANDIDATES:
        raise TrimtabError(
            f"policy = {name!r} selects among policies of: {', '.join(CANDIDATES)}; "
            f"this scenario's decision is {scenario.decision!r}"
        )
    short = name.removeprefix("select/")
    given = scenario.parameters.get(f"select/{short}", scenario.parameters.get(short, {})) | (parameters or {})
    selector = registry.load("select", name, given or None, _trained_for(short, scenario))
    situation = _situation(scenario, selector)
    policies = {each: candidate_of(scenario, each) for each in situation.candidates}
    if hasattr(selector, "check"):
        selector.check(situation)
    return Selection(selector, policies, situation)


def candidate_of(scenario: Scenario, candidate: str) -> Any:
    """A policy by name, or with parameters: ``cheap-fit(margin=1.25)``."""
    name, bracket, rest = candidate.partition("(")
    given = dict(scenario.parameters.get(name, {}))
    try:
        given |= {
            key.strip(): float(value) for key, value in (pair.split("=") for pair in rest[:-1].split(",") if pair)
        }
    except ValueError:
        rest = ""
    if bracket and not rest.endswith(")"):
        raise TrimtabError(f"candidate = {candidate!r}, must be a name, or name(parameter=number, …)")
    return registry.load(scenario.decision, name, given or None, scenario.name)


def selectors_of(scenario: Scenario) -> list[str]:
    """Selectors that can run here, as ``--policies`` takes them; oracles aside."""
    if scenario.decision not in CANDIDATES:
        return []
    names = registry.names("select")
    only_trained = registry.LEARNED["select"].keys() - registry.BUILT_IN["select"].keys()
    # prices and start-up times of autoscaling are no features: there only the very scenario fits, unless it is named
    find = (lambda name, given: given.name) if scenario.decision == "scale" else _trained_for
    fitting = {name: find(name, scenario) for name in names if name in only_trained}
    usable = [name for name in names if name not in fitting or trained.ships("select", name, fitting[name])]
    return [registry.plain(name) for name in usable]


def _trained_for(name: str, scenario: Scenario) -> str:
    """The scenario whose network that comes with Trimtab fits: this one, else one with the same workers."""
    if name in registry.LEARNED["select"] and not trained.ships("select", name, scenario.name):
        features = _features(scenario)
        for folder in trained.shipped_for_scenarios("select", name):
            if trained.load(folder).description.features == features:
                return folder.name.partition("@")[2]
    return scenario.name


def _features(scenario: Scenario) -> tuple[str, ...]:
    names = {"assign": assign_feature_names, "scale": scale_feature_names}
    return names.get(scenario.decision, feature_names)(scenario)


def choices_of(scenario: Scenario, selector: Any, usual: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The candidates of a selector and its fallback: as trained, else as the scenario says, else the usual ones."""
    settings = scenario.parameters.get("select", {})
    for key in settings:
        if key not in _SETTINGS:
            raise unknown("parameters.select", key, _SETTINGS)
    # a trained selector knows the policies that it was trained with
    chosen = getattr(selector, "candidates", None) or settings.get("candidates", usual)
    listed = isinstance(chosen, list | tuple) and all(isinstance(each, str) for each in chosen)
    if not listed or len(chosen) == 0 or len(set(chosen)) != len(chosen):
        raise TrimtabError(f"parameters.select.candidates = {chosen!r}, must be a list of different policies")
    first = scenario.baseline if scenario.baseline in chosen else chosen[0]
    fallback = str(settings.get("fallback") or getattr(selector, "fallback", None) or first)
    if fallback not in chosen:
        raise unknown("parameters.select.fallback", fallback, chosen)
    return tuple(chosen), fallback


def _situation(scenario: Scenario, selector: Any) -> Situation:
    candidates, fallback = choices_of(scenario, selector, CANDIDATES[scenario.decision])
    return Situation(
        decision=scenario.decision,
        candidates=candidates,
        fallback=fallback,
        features=_features(scenario),
        window=window_of(scenario),
    )


def window_of(scenario: Scenario) -> float:
    """Seconds between two choices: tasks are assigned, and who assigns them is chosen, once an interval."""
    return scenario.control.interval if scenario.decision == "assign" else scenario.control.window


class SelectLoop:
    """Asks a selector at the start of every window, and lets the policy that it names decide."""

    period = STEP

    def __init__(self, selection: Selection, simulation: Simulation, seed: int) -> None:
        self.simulation, self.selection = simulation, selection
        self.guard = SelectGuard(selection.selector, selection.situation)
        self.bands: list[tuple[float, str]] = []
        """(time, policy) of every change."""
        selection.selector.reset(selection.situation, seed)
        self._windows = RouteWindows(simulation)
        self._chosen = 0
        self._using = selection.situation.fallback
        state, _ = self._windows.close(self._using)
        self._use(self._choice(state))

    def tick(self) -> bool:
        """Once a sample; returns whether a window ended and another choice was made."""
        self._windows.sample()
        now, window = self.simulation.now, self.selection.situation.window
        if now < self._chosen * window - 1e-9:
            return False
        state, outcome = self._windows.close(self._using)
        self.guard.learn(outcome)
        self._use(self._choice(state))
        return True

    def _choice(self, state: Any) -> str:
        now, window = self.simulation.now, self.selection.situation.window
        self._chosen = round(now / window) + 1
        foresee = getattr(self.selection.selector, "foresee", None)
        if foresee is not None:
            foresee(RouteFuture(self.simulation, self.selection.policies, self.selection.situation))
        return self.guard.choose(state, now)

    def _use(self, name: str) -> None:
        if not self.bands or self.bands[-1][1] != name:
            self.bands.append((self.simulation.now, name))
            self.simulation.switch(self.selection.situation.decision, self.selection.policies[name])
        self._using = name

    def notes(self) -> list[str]:
        """What a reader must know: where the guard stepped in."""
        return [f"guard: {reason}, {count} times" for reason, count in sorted(self.guard.events.items())]
