"""Selectors over scale policies: every window one of them is chosen, and decides at each of its ticks."""

from __future__ import annotations

from trimtab.control.futures import ScaleFuture
from trimtab.control.scale_cost import ScaleMeter, Spent
from trimtab.control.scale_watch import ScaleWatch
from trimtab.control.scale_windows import ScaleWindows
from trimtab.control.select_guard import SelectGuard
from trimtab.control.selecting import Selection
from trimtab.control.simulated import SimulatedPlatform
from trimtab.policies.select.contract import ScaleState, WindowOutcome


class ScaleSelectLoop:
    """Asks a selector at the start of every window; all candidates watch, the chosen one's answers are carried out."""

    def __init__(self, selection: Selection, platform: SimulatedPlatform, seed: int) -> None:
        self.selection, self.platform = selection, platform
        self.watch = ScaleWatch(platform.simulation, selection.policies)
        self.guard = SelectGuard(selection.selector, selection.situation)
        self.bands: list[tuple[float, str]] = []
        """(time, policy) of every change."""
        self.choices: dict[str, int] = dict.fromkeys(selection.situation.candidates, 0)
        self.estimates: list[tuple[float, dict[str, float]]] = []
        """(time, what each candidate is expected to cost), of a selector that says so."""
        self.changes = 0
        """Times that a number of instances was changed."""
        self._windows, self._meter = ScaleWindows(platform.simulation), ScaleMeter(platform)
        self._using, self._chosen = selection.situation.fallback, 0
        selection.selector.reset(selection.situation, seed)
        self._choose()

    @property
    def periods(self) -> tuple[float, ...]:
        """When ``tick`` has to be called: at every multiple of these."""
        return (*self.watch.periods, self.selection.situation.window)

    def tick(self) -> None:
        """Candidates that are due say what they want; where a window ends, another one may be chosen."""
        self.watch.tick()
        if self.platform.simulation.now >= self._chosen * self.selection.situation.window - 1e-9:
            self.guard.learn(_outcome(self._using, self._meter.close()))
            self._choose()
        self.changes += self.watch.act(self.platform, self._using)

    def _choose(self) -> None:
        selector, situation, now = self.selection.selector, self.selection.situation, self.platform.simulation.now
        self._chosen = round(now / situation.window) + 1
        foresee = getattr(selector, "foresee", None)
        if foresee is not None:
            foresee(ScaleFuture(self.watch, situation))
        chosen = self.guard.choose(self._state(), now)
        if not self.bands or self.bands[-1][1] != chosen:
            self.bands.append((now, chosen))
        self.choices[chosen] += 1
        expected = getattr(selector, "expected", None)
        if expected is not None:
            self.estimates.append((now, dict(expected)))
        self._using = chosen

    def _state(self) -> ScaleState:
        features, context, demand = self._windows.close()
        watch, cores = self.watch, self._windows.cores()
        return ScaleState(self._using, features, context, demand, watch.asked(), watch.current(), cores)

    def notes(self) -> list[str]:
        """What a reader must know: where guards stepped in, and how often each candidate was chosen."""
        found = [f"guard: {reason}, {count} times" for reason, count in sorted(self.guard.events.items())]
        most = max(self.choices, key=lambda name: self.choices[name])
        share = 100 * self.choices[most] / max(sum(self.choices.values()), 1)
        return [*found, *self.watch.notes(), f"{most} decided in {share:.0f} % of the windows, more than any other"]

    def meters(self) -> dict[str, float]:
        """Figures of the choices."""
        total = max(sum(self.choices.values()), 1)
        return {"largest_share": max(self.choices.values()) / total, "switches": float(max(len(self.bands) - 1, 0))}


def _outcome(policy: str, spent: Spent) -> WindowOutcome:
    cost = spent.usd / spent.ended if spent.ended else None
    return WindowOutcome(policy, spent.completed - spent.late, spent.late + spent.failed, spent.rejected, cost)
