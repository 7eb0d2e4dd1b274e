"""``trimtab fidelity``: is the simulator right? The same workload live and simulated, under several policies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from trimtab.cli.bar import Bar, described
from trimtab.cli.options import (
    JsonOption,
    PoliciesOption,
    ScenarioArgument,
    SeedsOption,
    SetOption,
    parse_policies,
    parse_seeds,
)
from trimtab.cli.output import all_or_nothing, output, shown_command
from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.live.fidelity import Pair
    from trimtab.scenario.model import Scenario

_POLICIES = {
    "place": ["hashing", "round-robin", "least-connections", "drain-ahead"],
    "route": [
        "closest", "load-balancing", "farthest", "cheaper", "random-proportional-latency",
        "random-proportional-load", "least-impedance", "select/aset",
    ],
}  # fmt: skip
"""Without --policies."""
_DRIFT = 0.05
"""CPU time of the same work may differ by this share between live runs before a reader must know."""
_LATE = 0.01
"""Seconds: above this the sender itself blurs what is measured, and a reader must know."""


def command(
    scenario: ScenarioArgument,
    *,
    policies: PoliciesOption = None,
    seeds: SeedsOption = "3",
    profile: Annotated[
        Path | None,
        typer.Option("--profile", metavar="FILE", help="From trimtab calibrate; without it, calibrates first."),
    ] = None,
    overrides: SetOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to write; runs/SCENARIO without it.")
    ] = None,
    json: JsonOption = None,
) -> None:
    """Run a workload on the live platform and in the simulator, and report how far the two are apart."""
    from trimtab.live.extra import live_extra

    with live_extra():
        from trimtab.live import fidelity  # noqa: F401 (what is missing shows before anything runs)
    wanted_seeds, named = parse_seeds(seeds), parse_policies(policies)
    loaded = calibrated(scenario, overrides or [], profile)
    names = named or policies_of(loaded)
    check(loaded, names)
    with output(out, json, loaded.name) as folder:
        pairs = run_all(loaded, names, wanted_seeds)
        finish(loaded, pairs, folder, json)


def calibrated(name: str, overrides: list[str], profile: Path | None) -> Scenario:
    """The scenario with figures that were measured: from a profile, or here and now."""
    from trimtab.scenario.load import load_scenario

    if profile is not None:
        return load_scenario(name, [*overrides, f"profile={profile}"])
    loaded = load_scenario(name, overrides)
    if not any(function.code is not None for function in loaded.functions):
        return loaded
    from tempfile import TemporaryDirectory

    from trimtab.cli.calibrate import measured

    with TemporaryDirectory() as folder:
        return load_scenario(name, [*overrides, f"profile={measured(loaded, Path(folder) / 'profile.json')}"])


def policies_of(scenario: Scenario) -> list[str]:
    """Who is run without ``--policies``."""
    found = _POLICIES.get(scenario.decision)
    if found is None:
        raise TrimtabError(f"scenario {scenario.name!r}: decision = {scenario.decision!r}, must be place or route")
    return found


def check(scenario: Scenario, names: list[str]) -> None:
    """Load every policy before anything runs."""
    from trimtab.control.experiment import entrants

    policies_of(scenario)
    entrants(scenario, names)


def run_all(scenario: Scenario, names: list[str], seeds: list[int]) -> list[Pair]:
    """Policy by policy within a seed, so that what changes on the machine over time hits all of them."""
    from trimtab.live.fidelity import both

    pairs = []
    with Progress(len(names) * len(seeds)) as progress:
        for seed in seeds:
            for name in names:
                pairs.append(both(scenario, name, seed))
                progress.ran(pairs[-1])
    return sorted(pairs, key=lambda pair: names.index(pair.live.policy))


class Progress(Bar):
    """A bar on a terminal; elsewhere a line for each run."""

    def __init__(self, runs: int) -> None:
        columns = (TextColumn("live runs"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(), described())
        super().__init__(None, *columns, total=runs)

    def ran(self, pair: Pair) -> None:
        """One policy on one seed is done on both sides."""
        import numpy as np

        live, simulated = (float(np.nanmean(each.fct)) for each in (pair.live, pair.simulated))
        words = f"{pair.live.policy}, seed {pair.live.seed}: mean {live:.4g} s live, {simulated:.4g} s simulated"
        if self._console.is_terminal:
            self._bar.update(self._task, advance=1, description=words)
        else:
            self._console.print(words, highlight=False, soft_wrap=True)


def finish(scenario: Scenario, pairs: list[Pair], folder: Path | None, json: str | None) -> None:
    """Write what was asked for, and print the table."""
    from trimtab.report.fidelity import fidelity, fidelity_table
    from trimtab.report.files import put_json

    live, simulated = [pair.live for pair in pairs], [pair.simulated for pair in pairs]
    result = fidelity(scenario.name, scenario.decision, live, simulated) | {"notes": notes(pairs)}
    if folder is not None:
        write_all(folder, scenario, result, pairs)
    if json is not None:
        put_json(json, result)
    if folder is not None and json != "-":
        console = Console(markup=False)
        console.print(fidelity_table(result, console.width))
        for note in result["notes"]:
            console.print(f"Note: {note}", highlight=False)
        console.print(f"Page: {folder / 'fidelity.html'}", highlight=False, soft_wrap=True)


def notes(pairs: list[Pair]) -> list[str]:
    """What blurs the measurement."""
    late = max(pair.late for pair in pairs)
    found = []
    if late > _LATE:
        found.append(f"the sender was up to {1000 * late:.0f} ms late (p99): the machine was busy with other things")
    ratios = [pair.live.meters["busy_core_seconds"] / pair.simulated.meters["busy_core_seconds"] for pair in pairs
              if pair.calls is not None]  # fmt: skip
    if ratios and (drift := max(ratios) / min(ratios) - 1.0) > _DRIFT:
        found.append(
            f"the same work took up to {100 * drift:.0f} % more CPU time in one live run than in another: so much of a "
            "difference between policies may be the machine's"
        )
    failed = sum(int((pair.live.status != 0).sum()) for pair in pairs)
    if failed:
        found.append(f"{failed} live calls had no good answer, and count as failed")
    return found


def write_all(folder: Path, scenario: Scenario, result: dict[str, Any], pairs: list[Pair]) -> None:
    """The result, the page, and every request of both sides: all of them or none."""
    from trimtab.report.fidelity_page import write_fidelity
    from trimtab.report.files import write_json, write_parquet, write_requests, write_text

    live, simulated = [pair.live for pair in pairs], [pair.simulated for pair in pairs]
    with all_or_nothing(folder) as partial:
        write_json(partial / "fidelity.json", result)
        write_text(partial / "scenario.json", scenario.model_dump_json(indent=1) + "\n")
        write_requests(partial / "live.parquet", live)
        write_requests(partial / "simulated.parquet", simulated)
        calls = [_labelled(pair) for pair in pairs if pair.calls is not None]
        if calls:
            write_parquet(partial / "calls.parquet", calls)
        write_fidelity(partial / "fidelity.html", result, live, simulated, shown_command(), result["notes"])


def _labelled(pair: Pair) -> Any:
    import polars

    assert pair.calls is not None
    label = [polars.lit(pair.live.policy).alias("policy"), polars.lit(pair.live.seed).alias("seed")]
    return pair.calls.select(*label, polars.all())
