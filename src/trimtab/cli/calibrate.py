"""``trimtab calibrate``: measure real functions and models alone, and write the profile that scenarios use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trimtab.cli import calibrate_schedulers
from trimtab.cli.options import ScenarioArgument, SetOption, parse_number, parse_whole
from trimtab.cli.reach import TokenOption, gateway
from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.live.calibrate.functions import Effort, Subject
    from trimtab.scenario.model import Scenario
    from trimtab.scenario.profile import FunctionProfile, ModelProfile

app = typer.Typer(help="Measure what scenarios assume.", invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def _group(context: typer.Context) -> None:
    """Measure what scenarios assume."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("schedulers")(calibrate_schedulers.command)


@app.command("functions")
def command_functions(
    scenario: ScenarioArgument,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write the profile.")] = Path(
        "profile.json"
    ),
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="An idle gateway; starts one of its own without.")
    ] = None,
    token: TokenOption = None,
    starts: Annotated[str, typer.Option("--starts", metavar="N", help="Cold starts of each function.")] = "5",
    longest: Annotated[
        str, typer.Option("--longest", metavar="S", help="Core-seconds of a call at which larger sizes are not tried.")
    ] = "0.5",
    overrides: SetOption = None,
) -> None:
    """Profile a scenario's functions: start, CPU and off-CPU time, memory, by input size."""
    from trimtab.live.calibrate.functions import Effort
    from trimtab.report.files import prepare_file
    from trimtab.scenario.load import load_scenario

    effort = Effort(
        starts=parse_whole("--starts", starts, 1, 1000), longest=parse_number("--longest", longest, 0.001, 60)
    )
    loaded = load_scenario(scenario, overrides or [])
    subjects_of(loaded)
    prepare_file(out)
    measured(loaded, out, url, effort, token)
    typer.echo(f"Profile: {out}; use it with --set profile={out}")


@app.command("models")
def command_models(
    *,
    models: Annotated[
        str | None, typer.Option("--models", metavar="A,B", help="Which variants; the face detectors without it.")
    ] = None,
    batches: Annotated[str, typer.Option("--batches", metavar="1,2", help="Batch sizes.")] = "1,2,4,8",
    cores: Annotated[str, typer.Option("--cores", metavar="N", help="Cores that a model may use.")] = "1",
    seconds: Annotated[str, typer.Option("--seconds", metavar="S", help="For each batch size, about.")] = "1",
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write the profile.")] = Path(
        "profile.json"
    ),
) -> None:
    """Profile model variants by batch size: real detectors, and known networks as graphs with random weights."""
    from trimtab.live.extra import live_extra

    with live_extra():
        from trimtab.live.calibrate.functions import machine
        from trimtab.live.edge.detector import MODELS
        from trimtab.live.edge.profile import model_names
    from trimtab.cli.options import parse_seeds
    from trimtab.errors import unknown
    from trimtab.report.files import prepare_file, write_json
    from trimtab.scenario.profile import Profile

    names = [name.strip() for name in models.split(",") if name.strip()] if models else list(MODELS)
    for name in names:
        if name not in model_names():
            raise unknown("model", name, model_names())
    sizes = parse_seeds(batches if "," in batches else f"{batches},", "--batches")
    used, length = parse_whole("--cores", cores, 1, 1024), parse_number("--seconds", seconds, 0.01, 3600)
    prepare_file(out)
    found = {name: model_profile(name, sizes, used, length) for name in names}
    write_json(out, Profile(machine=machine(), models=found).model_dump(mode="json"))
    typer.echo(f"Profile: {out}; use it with --set profile={out}")


def model_profile(name: str, batches: list[int], cores: int, seconds: float) -> ModelProfile:
    """Measure one variant, and say what came out."""
    from rich.console import Console

    from trimtab.live.edge.profile import profile
    from trimtab.scenario.profile import ModelPoint, ModelProfile

    found = profile(name, batches, cores, seconds)
    Console(stderr=True).print(
        f"{name}: {1000 * found.base:.2f} ms + {1000 * found.each:.2f} ms a query, {found.rate:.0f} a second at the "
        f"largest batch on {cores} core{'s' if cores > 1 else ''}",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    points = tuple(ModelPoint(batch=each.batch, wall=each.wall, cpu=each.cpu, runs=each.runs) for each in found.points)
    return ModelProfile(cores=cores, base=found.base, each=found.each, deviation=found.deviation, points=points)


def measured(
    scenario: Scenario, path: Path, url: str | None = None, effort: Effort | None = None, token: str | None = None
) -> Path:
    """Profile every function of a scenario that has code, each alone, and write the file."""
    from trimtab.live.extra import live_extra

    with live_extra():
        from trimtab.live.background import running_platform
        from trimtab.live.calibrate.functions import EFFORT, calibrate, machine
    from contextlib import nullcontext

    from trimtab.report.files import write_json
    from trimtab.scenario.profile import Profile

    subjects = subjects_of(scenario)
    place = nullcontext(url) if url is not None else running_platform(_alone(scenario))
    with place as where, gateway(where, token if url is not None else None) as client:
        found = calibrate(client, subjects, effort or EFFORT, _tell)
    write_json(path, Profile(machine=machine(), functions=found).model_dump(mode="json"))
    return path


def subjects_of(scenario: Scenario) -> list[Subject]:
    """The functions of a scenario that have code, each path once."""
    from trimtab.live.calibrate.functions import Subject
    from trimtab.live.packing import deployment_of

    found: dict[str, Subject] = {}
    for function in scenario.functions:
        code = function.code
        if code is not None and code.path not in found:
            found[code.path] = Subject(code.path, deployment_of(function), dict(code.args), code.size)
    if not found:
        raise TrimtabError(f"scenario {scenario.name!r}: no function has code, must have some to be profiled")
    return list(found.values())


def _alone(scenario: Scenario) -> Scenario:
    """A platform of one server with the whole machine, and nothing on it."""
    import os

    largest = max(function.memory for function in scenario.functions)
    host = {"name": "calibration", "cores": float(os.cpu_count() or 1), "memory": 8 * largest}
    keys = ("name", "workload")
    kept = {key: value for key, value in scenario.model_dump(mode="json").items() if key in keys}
    functions = [{"name": "unused", "memory": largest}]
    return type(scenario).model_validate({**kept, "hosts": [host], "functions": functions})


def _tell(name: str, profile: FunctionProfile) -> None:
    """One line for each function as it is done."""
    from rich.console import Console

    from trimtab.report.field import number

    first, last = profile.curve[0], profile.curve[-1]
    curve = f"{number(1000 * first[1])} ms of CPU a call"
    if len(profile.curve) > 1:
        curve = f"{number(1000 * first[1])} to {number(1000 * last[1])} ms of CPU at sizes {first[0]:g} to {last[0]:g}"
    Console(stderr=True).print(
        f"{name}: cold {number(1000 * profile.cold_latency)} ms (CPU {number(1000 * profile.init)} ms), {curve}, "
        f"off the CPU {number(1000 * profile.off_cpu)} ms, {number(profile.memory / 2**20)} MiB",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
