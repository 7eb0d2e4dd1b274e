"""``trimtab calibrate schedulers``: how long does each scheduler take, by tasks and hosts?"""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trimtab.cli.options import PoliciesOption, parse_policies, parse_whole
from trimtab.errors import TrimtabError, unknown

if TYPE_CHECKING:
    from rich.table import Table

    from trimtab.control.timing import Point
    from trimtab.policies.assign.runtime import Runtime

SCENARIOS = ("metanet-azure16", "metanet-azure50", "metanet-azure100")
_MOST_INTERVALS = 1000
_SHOWN = (60, 100)
"""Tasks and hosts for which the table shows the time."""


def command(
    *,
    policies: PoliciesOption = None,
    intervals: Annotated[
        str, typer.Option("--intervals", metavar="N", help="Decisions of each run; three runs for each of 3 clusters.")
    ] = "60",
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write the model.")] = Path(
        "runtime.json"
    ),
) -> None:
    """Measure each scheduler and selector on 16, 50 and 100 hosts, and fit the model of their run times."""
    from rich.console import Console

    from trimtab.control.timing import fitted, measured, subjects
    from trimtab.report.files import prepare_file
    from trimtab.scenario.load import load_scenario
    from trimtab.whole import write_whole

    named, count = parse_policies(policies), parse_whole("--intervals", intervals, 1, _MOST_INTERVALS)
    scenarios = [load_scenario(name) for name in SCENARIOS]
    able = {scenario.name: subjects(scenario) for scenario in scenarios}
    wanted = names_of(named, [name for names in able.values() for name in names])
    prepare_file(out)
    found: dict[str, tuple[Runtime, float, int]] = {}
    for name in wanted:
        points: list[Point] = []
        for scenario in scenarios:
            if name in able[scenario.name]:
                points.extend(measured(scenario, name, count))
        if not points:
            raise TrimtabError(f"policy = {name!r} decided nothing in {count} intervals, --intervals must be more")
        found[name] = (*fitted(points), len(points))
    Console(markup=False).print(table(found))
    write_whole(out, (json.dumps(document({name: row[0] for name, row in found.items()}), indent=1) + "\n").encode())
    typer.echo(f"Run times: {out}; use them with --set scheduling.runtime={out}")


def names_of(named: list[str] | None, able: list[str]) -> list[str]:
    """Those that were named, else all."""
    known = list(dict.fromkeys(able))
    for name in named or ():
        if name not in known:
            raise unknown("policy", name, known)
    return named or known


def document(found: dict[str, Runtime]) -> dict[str, object]:
    """What ``policies.assign.runtime`` reads."""
    import numpy

    where = f"{processor()}, Python {platform.python_version()}, numpy {numpy.__version__}"
    rows = {
        name.removeprefix("select/"): {"fixed": each.fixed, "each": each.each, "pair": each.pair}
        for name, each in found.items()
    }
    return {"measured_on": where, "schedulers": rows}


def processor() -> str:
    """The processor by its name, as far as the system says."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def table(found: dict[str, tuple[Runtime, float, int]]) -> Table:
    """Coefficients, and what they come to."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column("policy", min_width=max(map(len, found)))
    tasks, hosts = _SHOWN
    for heading in ("fixed ms", "a task ms", "a task and host µs", f"{tasks} tasks, {hosts} hosts ms", "error %", "n"):
        made.add_column(heading, justify="right")
    for name, (runtime, error, count) in found.items():
        made.add_row(
            name, f"{1e3 * runtime.fixed:.3g}", f"{1e3 * runtime.each:.3g}", f"{1e6 * runtime.pair:.3g}",
            f"{1e3 * runtime.seconds(tasks, hosts):.3g}", f"{100 * error:.0f}", str(count),
        )  # fmt: skip
    return made
