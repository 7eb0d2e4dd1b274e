"""Running policies for a paper's experiments, with somebody watching."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trimtab.control.experiment import Entrant, Experiment, entrants
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome


class Watcher(Protocol):
    """Told what goes on."""

    def stage(self, name: str, total: int) -> None:
        """A part of the work begins, of ``total`` steps."""

    def step(self) -> None:
        """One step of it is done."""


@dataclass(frozen=True)
class Runner:
    """Runs policies on seeds, ``jobs`` at a time."""

    jobs: int
    watcher: Watcher
    folder: Path
    """Where policies that are trained now are kept until the end."""

    def each(self, scenario: Scenario, policies: Sequence[Entrant], seeds: Sequence[int]) -> Iterator[Outcome]:
        """Every policy on every seed, in that order; an outcome lives as long as its reader keeps it."""
        experiment = Experiment(scenario, policies, seeds, self.jobs)
        self.watcher.stage(f"{scenario.name}, {len(policies)} policies", experiment.runs)
        with closing(iter(experiment)) as runs:
            for _, outcome in runs:
                self.watcher.step()
                yield outcome


def scenario_of(name: str, overrides: Sequence[str] = ()) -> Scenario:
    """A preset with changes."""
    return load_scenario(name, list(overrides))


def team_of(scenario: Scenario, names: Sequence[str]) -> list[Entrant]:
    """Policies by name."""
    return entrants(scenario, list(names))
