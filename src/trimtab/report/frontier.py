"""Cost at equal violations: the fair way to compare autoscalers, and to pick a setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from trimtab.report.summary import rounded

TARGETS = (0.001, 0.005, 0.01, 0.05)
"""Shares of violating requests at which costs are compared."""


class Point(NamedTuple):
    """One setting of one policy: what it violated and what it cost."""

    knob: float
    violations: float
    cost: float
    """Instance-seconds over offered load."""
    changes_per_hour: float = math.nan
    core_cost: float = math.nan
    """Core-seconds over offered load: what counts where the size of an instance changes too."""


def envelope(points: Iterable[Sequence[float]]) -> list[Point]:
    """The points that no other point beats in both violations and cost, most violations first."""
    kept: list[Point] = []
    lowest = math.inf
    # The cheapest of the points with equal violations comes first, the others cannot beat it.
    for point in sorted((Point(*point) for point in points), key=lambda p: (p.violations, p.cost)):
        if point.cost < lowest:
            kept.append(point)
            lowest = point.cost
    return kept[::-1]


def at(front: Sequence[Point], target: float) -> Point | None:
    """Cost, changes and knob at a share of violations; None where the policy never gets so low.

    Between two points of the envelope all three are linear in the logarithm of the violations.
    Worked example: cost 2 at 0.001 and 1 at 0.1 gives 1.5 at 0.01. Above the last point its cost
    holds (it meets the target). Next to a point without any violation, whose logarithm does not
    exist, that point's cost is taken: it may be too high, never too low.
    """
    below = [point for point in front if point.violations <= target]
    if not below:
        return None
    near = below[0]
    above = [point for point in front if point.violations > target]
    if not above or near.violations <= 0:
        return near
    far = above[-1]
    share = math.log(target / near.violations) / math.log(far.violations / near.violations)
    return Point(
        near.knob + share * (far.knob - near.knob),
        target,
        near.cost + share * (far.cost - near.cost),
        near.changes_per_hour + share * (far.changes_per_hour - near.changes_per_hour),
        near.core_cost + share * (far.core_cost - near.core_cost),
    )


def frontier(
    points: Mapping[str, Sequence[Sequence[float]]],
    targets: Sequence[float] = TARGETS,
    **about: Any,
) -> dict[str, Any]:
    """The JSON of ``trimtab frontier``; ``about`` (scenario, seeds, knobs …) comes first in it.

    A target that a policy does not reach is absent.
    """
    policies = {name: _policy(entries, targets) for name, entries in points.items()}
    return rounded({**about, "policies": policies})  # type: ignore[no-any-return]


def frontier_table(result: Mapping[str, Any], targets: Sequence[float] = TARGETS) -> Table:
    """Cost by policy and target, cheapest at 1 % first, the best of each column in bold."""
    policies: Mapping[str, Any] = result["policies"]
    caption = "cost = instance-seconds over offered load; – not reached by any setting"
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, caption=caption, caption_justify="left")
    table.add_column("policy", no_wrap=True)
    for target in targets:
        table.add_column(f"cost at\n{target * 100:g} % late", justify="right", no_wrap=True)
    table.add_column("changes/h\nat 1 %", justify="right", no_wrap=True)
    for name in order(policies):
        entry = policies[name]
        cells = [_cost(policies, name, _key(target)) for target in targets]
        changes = entry["changes_per_hour"].get("0.01")
        table.add_row(Text(name), *cells, Text("–" if changes is None else f"{changes:.0f}"))
    return table


def order(policies: Mapping[str, Any], target: float = 0.01) -> list[str]:
    """Policies, cheapest at the target first; those that do not reach it last, by name."""
    return sorted(policies, key=lambda name: (policies[name]["cost"].get(_key(target), math.inf), name))


def _cost(policies: Mapping[str, Any], name: str, key: str) -> Text:
    costs = {policy: entry["cost"][key] for policy, entry in policies.items() if key in entry["cost"]}
    if name not in costs:
        return Text("–")
    return Text(f"{costs[name]:.2f}", style="bold" if costs[name] == min(costs.values()) else "")


def _policy(entries: Sequence[Sequence[float]], targets: Sequence[float]) -> dict[str, Any]:
    front = envelope(entries)
    reached = {_key(target): at(front, target) for target in targets}
    return {
        "cost": {key: point.cost for key, point in reached.items() if point},
        **_core_costs(entries, targets),
        "changes_per_hour": {
            key: point.changes_per_hour
            for key, point in reached.items()
            if point and math.isfinite(point.changes_per_hour)
        },
        "knob": {key: point.knob for key, point in reached.items() if point},
        "points": [_point(Point(*entry)) for entry in entries],
    }


def _core_costs(entries: Sequence[Sequence[float]], targets: Sequence[float]) -> dict[str, dict[str, float]]:
    """The same as ``cost``, in core-seconds: its cheapest settings are others where the size changes too."""
    points = [Point(*entry) for entry in entries]
    if not all(math.isfinite(point.core_cost) for point in points):
        return {}
    front = envelope(point._replace(cost=point.core_cost) for point in points)
    reached = {_key(target): at(front, target) for target in targets}
    return {"core_cost": {key: point.cost for key, point in reached.items() if point}}


def _point(point: Point) -> dict[str, float]:
    values = {"knob": point.knob, "violations": point.violations, "cost": point.cost,
              "changes_per_hour": point.changes_per_hour, "core_cost": point.core_cost}  # fmt: skip
    return {name: float(value) for name, value in values.items() if math.isfinite(value)}


def _key(target: float) -> str:
    return f"{target:g}"
