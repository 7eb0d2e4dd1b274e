"""``trimtab validate``: is a scenario right, and what would run?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from trimtab.scenario.model import Scenario
    from trimtab.workload.table import Workload


def command(
    scenario: Annotated[str, typer.Argument(help="A .yaml file or the name of a preset.")],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting: workload.rate=100"),
    ] = None,
) -> None:
    """Check a scenario and say what it would run."""
    from trimtab.scenario.load import load_scenario
    from trimtab.workload.build import build_workload

    loaded = load_scenario(scenario, overrides or [])
    for line in summary(loaded, build_workload(loaded, seed=1)):
        typer.echo(line)


def summary(scenario: Scenario, workload: Workload) -> list[str]:
    """A few lines: what is decided, where, and under which load."""
    hosts = sum(host.count for host in scenario.hosts)
    cores = sum(host.count * host.cores for host in scenario.hosts)
    memory = sum(host.count * host.memory for host in scenario.hosts) / 2**30
    rate = len(workload) / max(workload.duration, 1e-9)
    lines = [
        f"{scenario.name}: valid",
        f"  decision  {scenario.decision}, compared with {scenario.baseline or 'the first policy'}",
        f"  hosts     {hosts:,} with {cores:,.6g} cores and {memory:,.6g} GiB",
        f"  deployed  {_deployed(scenario)}",
        f"  workload  {scenario.workload.source}: {len(workload):,} requests in {workload.duration:,.6g} s, "
        f"{rate:,.4g} a second (seed 1)",
    ]
    return lines + [f"  note      {note}" for note in (*scenario.notes, *workload.notes)]


def _deployed(scenario: Scenario) -> str:
    parts = [f"{len(scenario.functions):,} functions"] if scenario.functions else []
    if scenario.variants:
        workers = sum(worker.count for worker in scenario.workers)
        where = f"{workers} workers" if workers else "workers chosen by the orchestrator"
        parts.append(f"{len(scenario.variants)} variants, {where}, {len(scenario.applications)} applications")
    return ", ".join(parts) or "nothing"
