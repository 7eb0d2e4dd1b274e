"""``trimtab frontier``: cost against violations, the fair way to compare autoscalers."""

from __future__ import annotations

import dataclasses
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.cli.compare import load
from trimtab.cli.options import (
    JobsOption,
    JsonOption,
    PoliciesOption,
    ScenarioArgument,
    SeedsOption,
    SetOption,
    WholeOption,
    WorkloadOption,
    parse_jobs,
    parse_policies,
    parse_seeds,
)
from trimtab.cli.output import all_or_nothing, output, shown_command
from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.control.experiment import Entrant
    from trimtab.policies.scale.contract import Knob
    from trimtab.scenario.model import Scenario
    from trimtab.sim.outcome import Outcome

Points = dict[str, list[tuple[float, float, float, float, float]]]


def command(
    scenario: ScenarioArgument,
    *,
    policies: PoliciesOption = None,
    seeds: SeedsOption = "3",
    workload: WorkloadOption = None,
    whole: WholeOption = False,
    overrides: SetOption = None,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to write; runs/SCENARIO without it.")
    ] = None,
    json: JsonOption = None,
) -> None:
    """Sweep each autoscaler's own knob: cost (instance-seconds over offered load) at equal violations."""
    wanted_seeds, wanted_jobs, named = parse_seeds(seeds), parse_jobs(jobs), parse_policies(policies)
    loaded = load(scenario, overrides, workload, whole)
    if loaded.decision != "scale":
        raise TrimtabError(f"scenario {loaded.name!r}: decision = {loaded.decision!r}, must be 'scale' for a frontier")
    entrants = settings(loaded, named)
    with output(out, json, loaded.name) as folder:
        finish(loaded, wanted_seeds, sweep(loaded, entrants, wanted_seeds, wanted_jobs), folder, json)


def finish(scenario: Scenario, seeds: list[int], points: Points, folder: Path | None, json: str | None) -> None:
    """Write what was asked for, and print the table."""
    from rich.console import Console

    from trimtab.report.files import put_json, write_json
    from trimtab.report.frontier import frontier, frontier_table
    from trimtab.report.frontier_page import frontier_headline, write_frontier

    result = frontier(points, scenario=scenario.name, seeds=seeds)
    if folder is not None:
        with all_or_nothing(folder) as partial:
            write_json(partial / "frontier.json", result)
            write_frontier(partial / "frontier.html", result, shown_command())
    if json is not None:
        put_json(json, result)
    if folder is not None and json != "-":
        console = Console(markup=False)
        console.print(frontier_table(result))
        console.print(frontier_headline(result), highlight=False)
        console.print(f"Page: {folder / 'frontier.html'}", highlight=False, soft_wrap=True)


def settings(scenario: Scenario, names: list[str] | None) -> list[Entrant]:
    """Every policy at every value of its knob, or as it is where it has none."""
    from trimtab.control.experiment import Entrant, entrants
    from trimtab.control.run import Team
    from trimtab.policies import registry

    found = []
    for entrant in entrants(scenario, names if names is not None else registry.names("scale", scenario.name)):
        policy = entrant.team["scale"]
        knob: Knob | None = getattr(policy, "knob", None)
        values: tuple[float | None, ...] = (None,) if knob is None else knob.values
        for value in values:
            tuned = policy if knob is None or value is None else tuned_to(policy, knob.name, value)
            found.append(Entrant(entrant.label, Team({**entrant.team.policies, "scale": tuned}), value))
    return found


def tuned_to(policy: Any, knob: str, value: float) -> Any:
    """The policy with its knob at a value."""
    try:
        return dataclasses.replace(policy, **{knob: value})
    except TypeError:
        raise TrimtabError(
            f"policy {policy.name!r}: knob = {knob!r}, must be a field of a dataclass that a sweep can set"
        ) from None


def sweep(scenario: Scenario, entrants: list[Entrant], seeds: list[int], jobs: int) -> Points:
    """Run all settings; a point is (knob, violation rate, cost, changes an hour, cost in cores), means over seeds."""
    from trimtab.cli.progress import Display
    from trimtab.control.experiment import Experiment

    experiment = Experiment(scenario, entrants, seeds, jobs)
    points: Points = {}
    mine: list[dict[str, float]] = []
    labels = [entrant.label for entrant in entrants]
    display = Display(scenario.decision, labels, experiment.runs, rows=False)
    with display, closing(iter(experiment)) as runs:
        for entrant, outcome in runs:
            mine.append(figures(outcome))
            display.ran(entrant.label)
            if len(mine) == len(seeds):
                points.setdefault(entrant.label, []).append(point(entrant, mine))
                mine = []
    return points


def figures(outcome: Outcome) -> dict[str, float]:
    """What a point is made of; all else of a run is let go, because a sweep has many."""
    from trimtab.report.summary import figures_of

    found = figures_of(outcome)
    if "sla_violation_rate" not in found:
        raise TrimtabError("functions: none has a deadline, must have one: a frontier is cost at equal violations")
    return found


def point(entrant: Entrant, runs: list[dict[str, float]]) -> tuple[float, float, float, float, float]:
    """The mean over seeds of one setting."""
    count = len(runs)
    violations = sum(each["sla_violation_rate"] for each in runs) / count
    cost = sum(each["instance_seconds"] / each["offered_load"] for each in runs) / count
    changes = sum(each.get("changes_per_hour", 0.0) for each in runs) / count
    cores = sum(each["core_seconds"] / each["offered_load"] for each in runs) / count
    return (entrant.knob if entrant.knob is not None else 0.0, violations, cost, changes, cores)
