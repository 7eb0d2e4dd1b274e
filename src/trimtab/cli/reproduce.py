"""``trimtab reproduce``: run a paper's experiments, and see which of its claims hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trimtab.cli.options import JobsOption, JsonOption, parse_jobs
from trimtab.cli.output import all_or_nothing, output, shown_command

if TYPE_CHECKING:
    from trimtab.papers.effort import Effort
    from trimtab.papers.reproduction import Paper, Reproduction


def command(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="faasrank, aset, autoscale or metanet.")],
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds, and the trained policies that come with Trimtab.")
    ] = False,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to write; runs/reproduce-PAPER without it.")
    ] = None,
    json: JsonOption = None,
) -> None:
    """Run a paper's experiments: its tables and figures beside ours, and a verdict on every claim."""
    from trimtab.papers.reproduction import find

    wanted_jobs = parse_jobs(jobs)
    found = find(paper)
    with output(out, json, f"reproduce-{found.name}") as folder:
        result = run(found, found.quick if quick else found.full, wanted_jobs)
        finish(result, folder, json)


def run(paper: Paper, effort: Effort, jobs: int) -> Reproduction:
    """Run all of it, with progress; policies that are trained now are kept until the end."""
    from tempfile import TemporaryDirectory

    from trimtab.cli.stages import Stages
    from trimtab.papers.runs import Runner

    with TemporaryDirectory(prefix="trimtab-") as kept, Stages() as stages:
        return paper.reproduce(effort, Runner(jobs, stages, Path(kept)))


def finish(result: Reproduction, folder: Path | None, json: str | None) -> None:
    """Write what was asked for, and print tables and verdicts."""
    from rich.console import Console

    from trimtab.papers.console import print_result
    from trimtab.papers.page import write_page
    from trimtab.report.files import put_json, write_json

    if folder is not None:
        with all_or_nothing(folder) as partial:
            write_json(partial / "reproduction.json", result.as_json())
            write_page(partial / "reproduction.html", result, shown_command())
    if json is not None:
        put_json(json, result.as_json())
    if folder is not None and json != "-":
        console = Console(markup=False)
        if not console.is_terminal:
            console = Console(markup=False, width=160)  # a file has no width of its own, and these tables are wide
        print_result(console, result)
        console.print(f"Page: {folder / 'reproduction.html'}", highlight=False, soft_wrap=True)
