"""``trimtab workload describe``: the statistics of a trace or of a scenario's workload."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from trimtab.workload.table import Workload

app = typer.Typer(help="Look at workloads.", invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def _group(context: typer.Context) -> None:
    """Look at workloads."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("describe")
def command_describe(
    file: Annotated[str | None, typer.Argument(help="A trace: file or folder, in any format.")] = None,
    *,
    scenario: Annotated[
        str | None, typer.Option("--scenario", help="A scenario instead (with FILE: the one to scale it to).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which draw.")] = 1,
    whole: Annotated[bool, typer.Option("--all", help="All of a long trace, not a sample of it.")] = False,
    overrides: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to a file.")] = None,
) -> None:
    """Print the statistics of a trace, or of the workload of a scenario."""
    from rich.console import Console
    from rich.table import Table

    from trimtab.workload.describe import describe

    workload = _workload(file, scenario, seed, whole, overrides or [])
    figures = describe(workload)
    if json_file is not None:
        _write_json(json_file, figures)
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in rows(figures):
        table.add_row(name, value)
    Console().print(table)


def rows(figures: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Label and text of each figure, nested ones indented."""
    for name, value in figures.items():
        label = prefix + name.replace("_", " ")
        if isinstance(value, dict):
            yield label, ""
            yield from rows(value, prefix + "  ")
        elif isinstance(value, list):
            for index, one in enumerate(value):
                yield label if index == 0 else "", str(one)
        else:
            yield label, _text(name, value)


def _text(name: str, value: Any) -> str:
    if name.endswith("_bytes"):
        return f"{value / 2**20:,.1f} MiB"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _workload(file: str | None, scenario: str | None, seed: int, whole: bool, overrides: list[str]) -> Workload:
    from trimtab.errors import TrimtabError
    from trimtab.scenario.load import load_scenario
    from trimtab.workload.build import build_workload
    from trimtab.workload.replace import replace_workload
    from trimtab.workload.trace_scenario import trace_scenario

    if file is None and scenario is None:
        raise TrimtabError("workload describe: must have a FILE or --scenario NAME")
    if scenario is None:
        assert file is not None
        if overrides:
            raise TrimtabError("--set changes a scenario, so it needs --scenario too")
        return build_workload(trace_scenario(file, whole), seed)
    loaded = load_scenario(scenario, overrides)
    return build_workload(loaded, seed) if file is None else replace_workload(loaded, file, seed, whole)[1]


def _write_json(file: Path, figures: dict[str, Any]) -> None:
    import json

    from trimtab.cli.new import write_whole
    from trimtab.errors import TrimtabError

    try:
        write_whole(file, json.dumps(figures, indent=2) + "\n")
    except OSError as error:
        raise TrimtabError(f"{file}: cannot be written: {error.strerror or error}") from error
