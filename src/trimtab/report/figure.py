"""A chart of the page: plain Plotly data and layout, with the words that go with it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trimtab.report.field import ranking
from trimtab.report.palette import Style, styles
from trimtab.sim.outcome import Outcome


@dataclass(frozen=True)
class Figure:
    """What is drawn, and what is said about it to those who see it and those who do not."""

    name: str
    title: str
    caption: str
    alternative: str
    """The figure in words, for a reader who cannot see it."""
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    height: int = 380
    legend: Sequence[tuple[str, str]] = ()
    """(label, colour) of things that are not policies; policies make their own legend."""
    choices: Sequence[str] = ()
    """Names of ``data`` entries of which one at a time is shown, the first at first."""
    half: bool = False
    """Whether two such figures may stand side by side."""


@dataclass(frozen=True)
class Runs:
    """All that the figures are made of."""

    summary: dict[str, Any]
    outcomes: Sequence[Outcome]
    deadline: float | None = None
    """The one deadline of all functions, if there is one."""
    order: list[str] = field(init=False)
    """Policies, best first."""
    style: dict[str, Style] = field(init=False)

    def __post_init__(self) -> None:
        policies = self.summary["policies"]
        order = ranking(self.summary["decision"], policies)
        # A frozen dataclass has no other way to fill a derived field.
        object.__setattr__(self, "order", order)
        honest = [policy for policy in order if not policies[policy].get("oracle")]
        clairvoyant = [policy for policy in order if policies[policy].get("oracle")]
        object.__setattr__(self, "style", styles(honest + clairvoyant, self.baseline))

    @property
    def baseline(self) -> str | None:
        """The baseline, if it was run."""
        name = self.summary["baseline"]
        return name if name in self.summary["policies"] else None

    @property
    def best(self) -> str:
        """The best policy that does not know the future."""
        policies = self.summary["policies"]
        return next((name for name in self.order if not policies[name].get("oracle")), self.order[0])

    def of(self, policy: str) -> list[Outcome]:
        """The runs of a policy, by seed."""
        return sorted((run for run in self.outcomes if run.policy == policy), key=lambda run: run.seed)

    def first(self, policy: str) -> Outcome:
        """A policy's run of the first seed."""
        return self.of(policy)[0]

    @property
    def seed(self) -> int:
        """The first seed, whose course over time is drawn."""
        return int(self.summary["seeds"][0])

    def value(self, policy: str, name: str) -> float | None:
        """A figure of a policy, None where it has none."""
        value = self.summary["policies"][policy].get(name)
        return None if value is None else float(value)


def line(policy: str, style: Style, x: Any, y: Any, **more: Any) -> dict[str, Any]:
    """A line of one policy in the colour that it has everywhere."""
    return {
        "type": "scatter", "mode": "lines", "name": policy, "meta": policy, "x": x, "y": y,
        "visible": style.shown, "showlegend": False,
        "line": {"color": style.colour, "dash": style.dash, "width": 2} | more.pop("line", {}), **more,
    }  # fmt: skip


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a title and room for its labels."""
    return {"title": {"text": title}, "automargin": True, "zeroline": False, **more}


def log_axis(title: str, values: Iterable[float | None], **more: Any) -> dict[str, Any]:
    """A logarithmic axis for ``values`` with a few ticks a decade, written in full."""
    positive = [value for value in values if value is not None and value > 0] or [1.0]
    low, high = math.log10(min(positive)), math.log10(max(positive))
    steps = (1, 2, 3, 5, 7) if high - low < 1 else (1, 2, 5) if high - low < 3 else (1,)
    decades = range(math.floor(low) - 1, math.ceil(high) + 2)
    ticks = [float(f"{step}e{decade}") for decade in decades for step in steps]
    ends = [low - 0.03 * (high - low) - 0.02, high + 0.03 * (high - low) + 0.02]
    return axis(title, type="log", tickvals=ticks, ticktext=[f"{tick:,g}" for tick in ticks], range=ends, **more)


def significant(values: Any, digits: int = 4) -> list[float | None]:
    """Numbers short enough for a page: a few significant digits, None for those that are not finite."""
    array = np.asarray(values, dtype=np.float64)
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array.tolist()]
