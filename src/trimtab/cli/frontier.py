"""``trimtab frontier``: cost against violations, the fair way to compare autoscalers and to pick a setting."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    parse_seeds,
)
from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.control.experiment import Entrant
    from trimtab.scenario.model import Scenario
    from trimtab.sim.outcome import Outcome

Points = dict[str, list[tuple[float, float, float, float]]]


def command(
    scenario: ScenarioArgument,
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
    from rich.console import Console

    from trimtab.report.files import prepare_file, prepare_folder, put_json, write_json
    from trimtab.report.frontier import frontier, frontier_table
    from trimtab.report.frontier_page import frontier_headline, write_frontier

    wanted_seeds, wanted_jobs = parse_seeds(seeds), parse_jobs(jobs)
    loaded = load(scenario, overrides, workload, whole)
    if loaded.decision != "scale":
        raise TrimtabError(
            f"decision = {loaded.decision!r} of {loaded.name!r}, frontier needs a scale scenario"
        )
    folder = None
    if json is not None and json != "-":
        prepare_file(Path(json))
    elif json is None:
        folder = prepare_folder(out or Path("runs") / loaded.name)
    points = sweep(loaded, settings(loaded, policies), wanted_seeds, wanted_jobs)
    result = frontier(points, scenario=loaded.name, seeds=wanted_seeds)
    if json is not None:
        put_json(json, result)
        return
    assert folder is not None
    shown = " ".join(shlex.quote(part) for part in ["trimtab", *sys.argv[1:]])
    write_json(folder / "frontier.json", result)
    write_frontier(folder / "frontier.html", result, shown)
    console = Console()
    console.print(frontier_table(result))
    console.print(frontier_headline(result), highlight=False)
    console.print(f"Page: {folder / 'frontier.html'}", highlight=False, soft_wrap=True)


def settings(scenario: Scenario, policies: str | None) -> list[Entrant]:
    """Every policy at every value of its knob, or as it is where it has none."""
    from trimtab.control.experiment import Entrant, entrants
    from trimtab.control.run import Team
    from trimtab.policies import registry

    names = (
        [name.strip() for name in policies.split(",") if name.strip()]
        if policies
        else registry.names("scale")
    )
    found = []
    for entrant in entrants(scenario, names):
        policy = entrant.team["scale"]
        for value in policy.knob.values if policy.knob is not None else (None,):
            tuned = policy if value is None else dataclasses.replace(policy, **{policy.knob.name: value})
            found.append(Entrant(entrant.label, Team({**entrant.team.policies, "scale": tuned}), value))
    return found


def sweep(scenario: Scenario, entrants: list[Entrant], seeds: list[int], jobs: int) -> Points:
    """Run all settings; a point is (knob, violation rate, cost, changes an hour), means over seeds."""
    from rich.console import Console

    from trimtab.cli.progress import progress_bar, tell_if_compiling
    from trimtab.control.experiment import Experiment

    console = Console(stderr=True)
    tell_if_compiling(console)
    experiment = Experiment(scenario, entrants, seeds, jobs)
    points: Points = {}
    mine: list[Outcome] = []
    with progress_bar(console, "runs", experiment.runs) as bar:
        for entrant, outcome in experiment:
            mine.append(outcome)
            bar.update(bar.task_ids[0], advance=1, description=entrant.label)
            if len(mine) == len(seeds):
                points.setdefault(entrant.label, []).append(point(entrant, mine))
                mine = []
    return points


def point(entrant: Entrant, outcomes: list[Outcome]) -> tuple[float, float, float, float]:
    """The mean over seeds of one setting."""
    from trimtab.report.summary import figures_of

    figures = [figures_of(outcome) for outcome in outcomes]
    count = len(figures)
    violations = sum(each["sla_violation_rate"] for each in figures) / count
    cost = sum(each["instance_seconds"] / each["offered_load"] for each in figures) / count
    changes = sum(each.get("changes_per_hour", 0.0) for each in figures) / count
    return (entrant.knob if entrant.knob is not None else 0.0, violations, cost, changes)
