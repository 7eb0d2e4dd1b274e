"""``trimtab load``: a scenario's workload, sent to a real platform at the very times of the simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.cli.options import JsonOption, ScenarioArgument, SetOption, parse_number, parse_whole
from trimtab.cli.output import all_or_nothing, output, shown_command
from trimtab.cli.reach import DEFAULT_URL, TokenOption, token_of

if TYPE_CHECKING:
    from trimtab.live.load.log import Log
    from trimtab.live.load.target import Target
    from trimtab.scenario.model import Scenario
    from trimtab.sim.outcome import Outcome

_MOST_CALLS = 2_000_000


def command(
    scenario: ScenarioArgument,
    *,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="The gateway, or any URL with {function} in its path.")
    ] = DEFAULT_URL,
    token: TokenOption = None,
    seed: Annotated[str, typer.Option("--seed", metavar="N", help="Which draw of the workload.")] = "1",
    seconds: Annotated[
        str | None, typer.Option("--seconds", metavar="S", help="Only the first S seconds; all of it without.")
    ] = None,
    rate_scale: Annotated[
        str, typer.Option("--rate-scale", metavar="X", help="Times the rate: 2 is twice as fast.")
    ] = "1",
    connections: Annotated[
        str, typer.Option("--connections", metavar="N", help="At most so many at a time; calls beyond wait.")
    ] = "256",
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="S", help="Seconds that a call may take, from when it is due.")
    ] = "60",
    overrides: SetOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to write; runs/SCENARIO without it.")
    ] = None,
    json: JsonOption = None,
) -> None:
    """Replay a scenario's workload in real time, open loop: latency counts from when a call is due."""
    from trimtab.live.extra import live_extra

    with live_extra():
        from trimtab.live.load.plan import paced, plan_of
        from trimtab.live.load.replay import Limits, replay
    from trimtab.errors import TrimtabError
    from trimtab.scenario.load import load_scenario
    from trimtab.workload.build import build_workload

    target = target_at(url, token)
    limits = Limits(
        parse_whole("--connections", connections, 1, 10_000), parse_number("--timeout", timeout, 0.001, 3600)
    )
    wanted_seed = parse_whole("--seed", seed, 0, 999_999_999)
    scale = parse_number("--rate-scale", rate_scale, 1e-3, 1e3)
    length = None if seconds is None else parse_number("--seconds", seconds, 0.001, 86_400 * 14)
    loaded = load_scenario(scenario, overrides or [])
    workload = paced(build_workload(loaded, wanted_seed), length, scale)
    if len(workload) > _MOST_CALLS:
        raise TrimtabError(f"{len(workload):,} calls, must be at most {_MOST_CALLS:,}: --seconds cuts the workload")
    plan = plan_of(loaded, workload)
    with output(out, json, loaded.name) as folder:
        log = replay(plan, target, limits)
        finish(loaded, log, wanted_seed, folder, json)


def target_at(url: str, token: str | None) -> Target:
    """Where calls go. The environment's token is a gateway's, and goes to nobody else."""
    from trimtab.live.load.target import target_of

    found = target_of(url, token_of(token))
    return found if found.gateway else target_of(url, token)


def finish(scenario: Scenario, log: Log, seed: int, folder: Path | None, json: str | None) -> None:
    """Write what was asked for, and print the table."""
    from trimtab.report.files import put_json
    from trimtab.report.summary import rounded, summarise

    outcome = log.outcome(scenario, "live", seed)
    summary = {**summarise(scenario.name, scenario.decision, None, [outcome]), "load": rounded(log.figures())}
    if folder is not None:
        write_all(folder, scenario, summary, outcome, log)
    if json is not None:
        put_json(json, summary)
    if folder is not None and json != "-":
        print_table(summary, folder)


def write_all(folder: Path, scenario: Scenario, summary: dict[str, Any], outcome: Outcome, log: Log) -> None:
    """Summary, every call, and the report: all of them or none."""
    from trimtab.report.files import write_json, write_parquet
    from trimtab.report.page import write_report

    with all_or_nothing(folder) as partial:
        write_json(partial / "load.json", summary)
        write_parquet(partial / "calls.parquet", [log.frame()])
        write_report(partial / "load.html", scenario, summary, [outcome], shown_command())


def print_table(summary: dict[str, Any], folder: Path) -> None:
    """The table of a comparison, what went wrong, and how punctual the sender was."""
    from rich.console import Console

    from trimtab.report.field import number
    from trimtab.report.table import comparison_table

    console = Console(markup=False)
    console.print(comparison_table(summary, console.width))
    load = summary["load"]
    words = [f"{load['sent']} of {summary['policies']['live']['requests']} calls sent"]
    if (late := load.get("sender_late_s")) is not None:
        words.append(f"p99 {number(late['p99'] * 1000)} ms after they were due")
    if (own := load.get("from_send_s")) is not None:
        words.append(f"mean {number(own['mean'])} s from the actual send")
    console.print("; ".join(words), highlight=False)
    if load["errors"]:
        errors = ", ".join(f"{kind} {count}" for kind, count in load["errors"].items())
        console.print(f"Errors: {errors}", highlight=False)
    console.print(f"Report: {folder / 'load.html'}", highlight=False, soft_wrap=True)
