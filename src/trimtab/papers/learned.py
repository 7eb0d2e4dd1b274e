"""The learned policies of a paper: trained now, or those that come with Trimtab."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from trimtab.control.experiment import Entrant, entrants
from trimtab.errors import TrimtabError
from trimtab.papers.claim import NotTestable
from trimtab.papers.runs import Runner
from trimtab.policies import trained
from trimtab.policies.trained import Trained
from trimtab.scenario.model import Scenario

Curve = list[dict[str, Any]]
_MOST_POINTS = 200
NOT_TRAINED = "not trained"


@dataclass(frozen=True)
class Learned:
    """A trained policy with its learning curve, or the reason why there is none."""

    decision: str
    name: str
    folder: Path | None = None
    policy: Trained | None = None
    curve: tuple[dict[str, Any], ...] = ()
    """Points of {"unit", "reward", …}, in the order of training."""
    hours: float | None = None
    """How long training took; None where it is not known."""
    fresh: bool = False
    reason: str = NOT_TRAINED

    def entrant(self, scenario: Scenario, **parameters: Any) -> Entrant | None:
        """The policy as it takes part in a scenario, under its own name; None where there is none."""
        if self.folder is None:
            return None
        given = scenario.parameters | ({str(self.folder): parameters} if parameters else {})
        asked = scenario.model_copy(update={"parameters": given})
        found = entrants(asked, [f"{self.decision}/{self.folder}"])[0]
        return replace(found, label=self.name)

    def column(self, name: str) -> list[float]:
        """A figure of the learning curve."""
        if not self.curve:
            raise NotTestable(self.reason if self.folder is None else f"{self.name} was shipped without its curve")
        values = [float(point[name]) for point in self.curve if point.get(name) is not None]
        if not values:
            raise NotTestable(f"the learning curve of {self.name} has no figure {name!r}")
        return values

    @property
    def source(self) -> str:
        """Where it came from, in words."""
        if self.folder is None:
            return f"{self.name}: {self.reason}"
        if not self.fresh:
            recipe = "" if self.policy is None else f", recipe {self.policy.description.recipe}"
            return f"{self.name}: the one that comes with Trimtab ({self.folder.name}{recipe})"
        return f"{self.name}: trained now, in {(self.hours or 0.0) * 60:.1f} minutes"


def missing(learned: Iterable[Learned]) -> NotTestable:
    """Why a policy took no part: the reason of the first that is not there."""
    return NotTestable(next((each.reason for each in learned if each.folder is None), NOT_TRAINED))


def shipped(decision: str, policy: str, scenario: str | None, name: str | None = None) -> Learned:
    """The policy that comes with Trimtab for exactly this scenario; without one, that for all."""
    folder = trained.SHIPPED / decision / (policy if scenario is None else f"{policy}@{scenario}")
    return kept(folder, decision, name or policy)


def kept(folder: Path, decision: str, name: str) -> Learned:
    """A trained policy in a folder, with its learning curve where that was kept."""
    if not trained.is_trained(folder):
        return Learned(decision, name)
    try:
        found = trained.load(folder)
    except TrimtabError as error:
        return Learned(decision, name, reason=str(error))
    curve = points(found.description.training.get("curve")) or _from_file(folder / "curve.csv")
    return Learned(decision, name, folder, found, tuple(thinned(curve)), _hours(folder))


def points(curve: Any) -> Curve:
    """A learning curve as points, whether it was kept as points or as columns."""
    if isinstance(curve, list):
        return [point for point in curve if isinstance(point, dict) and "unit" in point]
    if not isinstance(curve, dict):
        return []
    columns = {name: values for name, values in curve.items() if isinstance(values, list)}
    length = min(map(len, columns.values()), default=0)
    units = columns.pop("unit", range(1, length + 1))
    return [
        {"unit": unit} | {name: values[index] for name, values in columns.items()}
        for index, unit in enumerate(list(units)[:length])
    ]


def _from_file(path: Path) -> Curve:
    """``curve.csv`` of ``trimtab train``: a row a unit, an empty cell where a unit lacks a figure."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: float(value) for name, value in row.items() if value} for row in rows]


def _hours(folder: Path) -> float | None:
    """How long ``trimtab train`` took, as it noted beside the policy."""
    try:
        seconds = json.loads((folder / "training.json").read_text(encoding="utf-8"))["training_s"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return float(seconds) / 3600.0


def learn(
    runner: Runner,
    decision: str,
    policy: str,
    scenario: Scenario,
    *,
    recipe_name: str = "paper",
    budget: int | None = None,
    name: str | None = None,
) -> Learned:
    """Train a policy by its paper's recipe; where that cannot be done here, say why."""
    from trimtab.learn import recipe as recipes

    label = name or policy
    try:
        recipe = recipes.find(decision, policy, recipe_name)
    except TrimtabError as error:
        return Learned(decision, label, reason=f"{NOT_TRAINED}: {error}")
    units = budget or recipe.budget
    runner.watcher.stage(f"training {label} on {scenario.name}", units)
    began = time.perf_counter()
    learner = recipe.start(scenario, 1, units)
    curve: Curve = []
    for unit in range(units):
        progress = learner.step()
        curve.append({"unit": unit + 1, "reward": progress.reward} | dict(progress.figures))
        runner.watcher.step()
    hours = (time.perf_counter() - began) / 3600.0
    folder = runner.folder / decision / recipe_name / f"{label}@{scenario.name}"
    policy_found = learner.trained()
    trained.save(folder, policy_found)
    return Learned(decision, label, folder, policy_found, tuple(thinned(curve)), hours, fresh=True)


def thinned(curve: Curve, most: int = _MOST_POINTS) -> Curve:
    """At most ``most`` points: means of equal stretches, each under its last unit."""
    if len(curve) <= most:
        return curve
    edges = [round(index * len(curve) / most) for index in range(most + 1)]
    return [_merged(curve[first:last]) for first, last in pairwise(edges)]


def _merged(points: Curve) -> dict[str, Any]:
    names = [name for name in points[0] if name != "unit"]
    means = {name: [point[name] for point in points if point.get(name) is not None] for name in names}
    return {"unit": points[-1]["unit"]} | {name: sum(all_) / len(all_) for name, all_ in means.items() if all_}
