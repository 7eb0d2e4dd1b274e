"""``trimtab compare``: which policy suits this load and these machines?"""

from __future__ import annotations

from contextlib import closing
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
    parse_policies,
    parse_seeds,
)
from trimtab.cli.output import all_or_nothing, output, shown_command
from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.control.experiment import Experiment
    from trimtab.scenario.model import Scenario
    from trimtab.sim.outcome import Outcome


def command(
    scenario: ScenarioArgument,
    *,
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
        bool,
        typer.Option("--oracles", help="Also run selectors that know the future, marked as such."),
    ] = False,
    measured: Annotated[
        bool,
        typer.Option(
            "--measured-overhead", help="Schedulers are charged the time that they really run; no two runs are alike."
        ),
    ] = False,
) -> None:
    """Compare policies on one scenario, paired by seed."""
    from trimtab.control.experiment import Experiment, entrants, fitting

    wanted_seeds, wanted_jobs, named = parse_seeds(seeds), parse_jobs(jobs), parse_policies(policies)
    loaded = load(scenario, overrides, workload, whole)
    if measured and loaded.scheduling is None:
        raise TrimtabError("--measured-overhead: this scenario has no 'scheduling', nobody is charged for schedulers")
    names, notes = every_policy(loaded, named, oracles), list[str]()
    if named is None:
        # who was not asked for by name and cannot run here must not end the comparison of the others
        names, notes = fitting(loaded, names)
    experiment = Experiment(loaded, entrants(loaded, names), wanted_seeds, wanted_jobs, measured, notes)
    with output(out, json, loaded.name) as folder:
        outcomes = run_all(experiment, rows=folder is not None)
        finish(experiment, outcomes, folder, json, trace)


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


def every_policy(scenario: Scenario, named: list[str] | None, oracles: bool) -> list[str]:
    """Those that were named, else every policy of the scenario's decision and selectors over it; then oracles."""
    from trimtab.control.selecting import selectors_of
    from trimtab.policies import registry
    from trimtab.policies.select.contract import CANDIDATES

    names = named
    if names is None:
        names = [*registry.names(scenario.decision, scenario.name), *selectors_of(scenario)]
    if not oracles:
        return names
    if scenario.decision not in CANDIDATES:
        raise TrimtabError(f"--oracles: there are none for {scenario.decision}, only for: {', '.join(CANDIDATES)}")
    return names + [each for each in registry.oracles(scenario.decision) if each not in names]


def run_all(experiment: Experiment, rows: bool) -> list[Outcome]:
    """Run everything; a row for each policy as soon as it is done."""
    from trimtab.cli.progress import Display
    from trimtab.report.summary import figures_of, policy_summary

    labels = [entrant.label for entrant in experiment.entrants]
    outcomes: list[Outcome] = []
    figures: dict[int, dict[str, float]] = {}
    display = Display(experiment.scenario.decision, labels, experiment.runs, rows)
    with display, closing(iter(experiment)) as runs:
        for entrant, outcome in runs:
            outcomes.append(outcome)
            figures[outcome.seed] = figures_of(outcome)
            display.ran(entrant.label)
            if len(figures) == len(experiment.seeds):
                display.finished(entrant.label, policy_summary(figures, None))
                figures = {}
    return outcomes


def finish(experiment: Experiment, outcomes: list[Outcome], folder: Path | None, json: str | None, trace: bool) -> None:
    """Write what was asked for, and print the table."""
    from trimtab.report.files import put_json
    from trimtab.report.summary import summarise, with_timings

    scenario = experiment.scenario
    labels = [entrant.label for entrant in experiment.entrants]
    baseline = scenario.baseline if scenario.baseline in labels else labels[0]
    oracles = frozenset(entrant.label for entrant in experiment.entrants if entrant.oracle)
    summary = summarise(scenario.name, scenario.decision, baseline, outcomes, oracles)
    notes = [*experiment.notes, *experiment.workloads.notes[experiment.seeds[0]], *summary.get("notes", [])]
    if notes:
        summary["notes"] = notes
    if folder is not None:
        write_all(folder, scenario, summary, outcomes, trace)
    if json is not None:
        put_json(json, with_timings(summary, outcomes))
    if folder is not None and json != "-":
        print_table(summary, folder)


def print_table(summary: dict[str, Any], folder: Path) -> None:
    """The table, the result in words, and where the report is."""
    from rich.console import Console

    from trimtab.report.headline import headline
    from trimtab.report.table import comparison_table

    console = Console(markup=False)
    console.print(comparison_table(summary, console.width))
    console.print(headline(summary), highlight=False)
    for note in summary.get("notes", []):
        console.print(f"Note: {note}", highlight=False, style="dim", soft_wrap=not console.is_terminal)
    console.print(f"Report: {folder / 'report.html'}", highlight=False, soft_wrap=True)


def write_all(folder: Path, scenario: Scenario, summary: dict[str, Any], outcomes: list[Outcome], trace: bool) -> None:
    """Summary, timings, requests, series, report, and traces if asked for: all of them or none."""
    from trimtab.report.files import write_json, write_requests, write_series
    from trimtab.report.page import write_report
    from trimtab.report.perfetto import write_trace
    from trimtab.report.summary import timings

    with all_or_nothing(folder) as partial:
        write_json(partial / "summary.json", summary)
        write_json(partial / "timings.json", timings(outcomes))
        write_requests(partial / "requests.parquet", outcomes)
        write_series(partial / "series.parquet", outcomes)
        write_report(partial / "report.html", scenario, summary, outcomes, shown_command())
        if trace:
            first = {outcome.policy: outcome for outcome in reversed(outcomes)}
            for policy, outcome in first.items():
                write_trace(partial / f"trace-{policy.replace('/', '-')}.json", outcome)
