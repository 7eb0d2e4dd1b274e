"""``trimtab compare``: which policy suits this load and these machines?"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    from rich.console import Console

    from trimtab.control.experiment import Experiment
    from trimtab.scenario.model import Scenario
    from trimtab.sim.outcome import Outcome


def command(
    scenario: ScenarioArgument,
    policies: PoliciesOption = None,
    seeds: SeedsOption = "5",
    workload: WorkloadOption = None,
    whole: WholeOption = False,
    overrides: SetOption = None,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to write; runs/SCENARIO without it.")
    ] = None,
    json: JsonOption = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also write a Chrome/Perfetto trace of each policy's first run.")
    ] = False,
    oracles: Annotated[
        bool, typer.Option("--oracles", help="Also run clairvoyants, marked as such.")
    ] = False,
) -> None:
    """Compare policies on one scenario, paired by seed."""
    from rich.console import Console

    from trimtab.control.experiment import Experiment, entrants
    from trimtab.report.files import prepare_file, prepare_folder

    wanted_seeds, wanted_jobs = parse_seeds(seeds), parse_jobs(jobs)
    loaded = load(scenario, overrides, workload, whole)
    folder = None
    if json is not None and json != "-":
        prepare_file(Path(json))
    elif json is None:
        folder = prepare_folder(out or Path("runs") / loaded.name)
    notes = Console(stderr=True)
    experiment = Experiment(
        loaded, entrants(loaded, chosen(loaded, policies, oracles)), wanted_seeds, wanted_jobs
    )
    outcomes = run_all(experiment, notes, quiet=json is not None)
    finish(loaded, experiment, outcomes, folder, json, trace)


def load(name: str, overrides: list[str] | None, workload: str | None, whole: bool) -> Scenario:
    """The scenario, under the load of a trace where one is given."""
    from trimtab.scenario.load import load_scenario

    loaded = load_scenario(name, overrides or [])
    if workload is None:
        if whole:
            raise TrimtabError("--all goes with --workload")
        return loaded
    from trimtab.workload.replace import with_trace

    return with_trace(loaded, workload, whole)


def chosen(scenario: Scenario, policies: str | None, oracles: bool) -> list[str]:
    """The names to run: those given, or every policy of the scenario's decision."""
    from trimtab.policies import registry

    if policies is not None:
        return [name.strip() for name in policies.split(",") if name.strip()]
    del oracles  # there are no clairvoyants among the policies yet
    return list(registry.names(scenario.decision))


def run_all(experiment: Experiment, console: Console, quiet: bool) -> list[Outcome]:
    """Run everything; a line for each policy as soon as it is done."""
    from trimtab.cli.progress import progress_bar, tell_if_compiling
    from trimtab.report.summary import figures_of, policy_summary
    from trimtab.report.table import Lines

    tell_if_compiling(console)
    outcomes: list[Outcome] = []
    lines: Lines | None = None
    mine: list[Outcome] = []
    with progress_bar(console, "runs", experiment.runs) as bar:
        for entrant, outcome in experiment:
            outcomes.append(outcome)
            mine.append(outcome)
            bar.update(bar.task_ids[0], advance=1, description=entrant.label)
            if len(mine) == len(experiment.seeds):
                figures = policy_summary({each.seed: figures_of(each) for each in mine}, None)
                if lines is None:
                    lines = Lines(experiment.scenario.decision, figures)
                    if not quiet:
                        console.print(lines.heading(), style="bold", highlight=False)
                if not quiet:
                    console.print(lines.row(entrant.label, figures), highlight=False)
                mine = []
    return outcomes


def finish(
    scenario: Scenario,
    experiment: Experiment,
    outcomes: list[Outcome],
    folder: Path | None,
    json: str | None,
    trace: bool,
) -> None:
    """Write what was asked for, and print the table."""
    from rich.console import Console

    from trimtab.report.files import put_json
    from trimtab.report.headline import headline
    from trimtab.report.summary import summarise, with_timings
    from trimtab.report.table import comparison_table

    labels = [entrant.label for entrant in experiment.entrants]
    baseline = scenario.baseline if scenario.baseline in labels else labels[0]
    summary = summarise(scenario.name, scenario.decision, baseline, outcomes)
    if json is not None:
        put_json(json, with_timings(summary, outcomes))
        return
    assert folder is not None
    write_all(folder, scenario, summary, outcomes, trace)
    console = Console()
    console.print()
    console.print(comparison_table(summary, console.width))
    console.print(headline(summary), highlight=False)
    console.print(f"Report: {folder / 'report.html'}", highlight=False, soft_wrap=True)


def write_all(
    folder: Path, scenario: Scenario, summary: dict[str, Any], outcomes: list[Outcome], trace: bool
) -> None:
    """The files of DESIGN: summary, timings, requests, series, report; and traces if asked for."""
    from trimtab.report.files import write_json, write_requests, write_series
    from trimtab.report.page import write_report
    from trimtab.report.perfetto import write_trace
    from trimtab.report.summary import timings

    write_json(folder / "summary.json", summary)
    write_json(folder / "timings.json", timings(outcomes))
    write_requests(folder / "requests.parquet", outcomes)
    write_series(folder / "series.parquet", outcomes)
    shown = " ".join(shlex.quote(part) for part in ["trimtab", *sys.argv[1:]])
    write_report(folder / "report.html", scenario, summary, outcomes, shown)
    if trace:
        done: set[str] = set()
        for outcome in outcomes:
            if outcome.policy not in done:
                done.add(outcome.policy)
                write_trace(folder / f"trace-{outcome.policy.replace('/', '-')}.json", outcome)
