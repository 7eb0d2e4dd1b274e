"""``trimtab live`` with a scenario of streams: plays it once on real workers, and says how it went."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from trimtab.cli.bar import Bar, described
from trimtab.cli.output import all_or_nothing

if TYPE_CHECKING:
    from trimtab.live.edge.monitor import VariantUse
    from trimtab.live.edge.session import EdgeRun
    from trimtab.live.edge.status import Status
    from trimtab.scenario.model import Scenario


class _Clock(Bar):
    """Seconds played of all."""

    def __init__(self, seconds: float) -> None:
        columns = (TextColumn("streams"), BarColumn(20), TimeRemainingColumn(), described())
        super().__init__(None, *columns, total=round(seconds))

    def reached(self, seconds: float) -> None:
        """So much has been played."""
        self._bar.update(self._task, completed=round(seconds))


def play(
    scenario: Scenario,
    policy: str | None,
    seconds: float | None,
    emulate: bool,
    folder: Path,
    as_json: bool,
    host: str = "127.0.0.1",
    port: int = 0,
) -> None:
    """Play the scenario's workload in real time; the log of all queries goes to ``folder``.

    While it runs, its status and the dashboard are at ``host`` and ``port``.
    """
    from trimtab.live.edge.session import play as play_streams
    from trimtab.live.edge.session import shortened
    from trimtab.report.files import json_text, write_json, write_requests
    from trimtab.report.summary import summarise

    scenario = shortened(scenario, seconds)
    with _Clock(getattr(scenario.workload, "duration", 0.0)) as clock:
        found = play_streams(
            scenario, policy, None, emulate, 1, clock.reached, shown=lambda status: _watched(status, host, port)
        )
    summary = summarise(scenario.name, scenario.decision, scenario.baseline, [found.outcome])
    summary |= {"emulated": emulate} | _measured(found)
    with all_or_nothing(folder) as partial:
        write_requests(partial / "requests.parquet", [found.outcome])
        write_json(partial / "summary.json", summary)
    if as_json:
        print(json_text(summary), end="")  # noqa: T201 (what --json is for)
    else:
        _show(summary, found, folder)


@contextmanager
def _watched(status: Status, host: str, port: int) -> Iterator[None]:
    """Let people look on, where the libraries for that are installed: a run needs none of them."""
    if any(find_spec(name) is None for name in ("starlette", "uvicorn")):
        yield
        return
    from trimtab.live.edge.serving import served

    with served(status, host, port) as address:
        console = Console(stderr=True)
        console.print(f"To watch it: {address.url}", highlight=False, soft_wrap=True)
        if address.token is not None:
            console.print(f"Token: {address.token}", highlight=False, soft_wrap=True)
        yield


def _measured(found: EdgeRun) -> dict[str, Any]:
    """What only a real platform has: the use of each variant, bands of a selector, and how long decisions took."""
    deciding = [each.seconds for each in found.decisions]
    return {
        "variants": [asdict(each) for each in found.use],
        "bands": [list(band) for band in found.outcome.bands],
        "decision_us": round(median(deciding) * 1e6, 1) if deciding else None,
    }


def _show(summary: dict[str, Any], found: EdgeRun, folder: Path) -> None:
    from trimtab.report.table import comparison_table

    console = Console()
    console.print(comparison_table(summary, console.width))
    console.print(_use_table(found.use))
    for note in summary.get("notes", ()):
        console.print(note)
    console.print(f"Every query: {folder / 'requests.parquet'}", soft_wrap=True)


def _use_table(use: tuple[VariantUse, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("variant")
    for heading in ("workers", "answers", "batches", "busy s", "CPU s", "faces found"):
        table.add_column(heading, justify="right")
    for each in use:
        recall = "-" if each.recall is None else f"{each.recall:.0%}"
        table.add_row(
            each.variant, str(each.workers), f"{each.answered:,}", f"{each.batches:,}", f"{each.busy_seconds:.2f}",
            f"{each.cpu_seconds:.2f}", recall,
        )  # fmt: skip
    return table
