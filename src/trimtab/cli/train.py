"""``trimtab train``: a policy for this load and these machines, with the proof of how good it is."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.cli.compare import load
from trimtab.cli.options import (
    JobsOption,
    ScenarioArgument,
    SetOption,
    WholeOption,
    WorkloadOption,
    parse_jobs,
    parse_seeds,
    parse_whole,
)
from trimtab.cli.output import output
from trimtab.cli.practice import practice_of
from trimtab.cli.reach import TokenOption
from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.learn.checkpoint import Checkpoint
    from trimtab.learn.job import Job
    from trimtab.learn.session import Session
    from trimtab.scenario.model import Scenario

_MOST_UNITS = 10_000_000
_MOST_SEED = 999_999


def command(
    scenario: ScenarioArgument,
    *,
    policy: Annotated[str, typer.Option("--policy", metavar="NAME", help="Which policy: rank, or route/rank.")],
    recipe: Annotated[
        str | None, typer.Option("--recipe", metavar="NAME", help="How: paper or best; the policy's first without it.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="N", help="Episodes or generations; the recipe's own without it.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", metavar="N", help="Of all that is random; 1 without it.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where to write; runs/SCENARIO/POLICY without it.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint in DIR.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Start anew where DIR holds a training or a policy.")] = False,
    overrides: SetOption = None,
    workload: WorkloadOption = None,
    whole: WholeOption = False,
    evaluation_seeds: Annotated[
        str,
        typer.Option("--evaluation-seeds", metavar="N", help="Of the proof at the end: 10 is 1 to 10; none: no proof"),
    ] = "10",
    jobs: JobsOption = None,
    every: Annotated[
        str, typer.Option("--checkpoint-every", metavar="SECONDS", help="0: after each episode or generation.")
    ] = "30",
    live: Annotated[
        bool, typer.Option("--live", help="Go on from a training in simulation with real episodes on this machine.")
    ] = False,
    origin: Annotated[
        Path | None, typer.Option("--from", metavar="DIR", help="With --live: the folder of that training.")
    ] = None,
    minutes: Annotated[str, typer.Option("--minutes", metavar="M", help="With --live: how long it may take.")] = "10",
    episode: Annotated[
        str, typer.Option("--episode-seconds", metavar="S", help="With --live: the length of an episode.")
    ] = "60",
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="With --live: a gateway that runs already.")
    ] = None,
    token: TokenOption = None,
) -> None:
    """Train a policy on a scenario, and prove it against every rule on seeds that it never saw."""
    from trimtab.learn.evaluation import check_seeds
    from trimtab.learn.job import job_for, split
    from trimtab.learn.lock import locked
    from trimtab.learn.recipe import named
    from trimtab.learn.session import Session

    seeds = [] if evaluation_seeds == "none" else parse_seeds(evaluation_seeds, "--evaluation-seeds")
    wanted_jobs = parse_jobs(jobs)
    check_seeds(seeds)
    wanted_budget = None if budget is None else parse_whole("--budget", budget, 1, _MOST_UNITS)
    wanted_seed = None if seed is None else parse_whole("--seed", seed, 0, _MOST_SEED)
    seconds = parse_whole("--checkpoint-every", every, 0, 86_400)
    if force and resume:
        raise TrimtabError("--force starts anew, --resume goes on: must be one of them")
    loaded = load(scenario, overrides, workload, whole)
    decision, name = split(loaded, policy)
    named(decision, name, recipe)
    folder = out or default_folder(loaded, policy, recipe)
    found = held(folder, resume, force)
    if found is not None and (found.identity.get("decision"), found.identity.get("policy")) == (decision, name):
        # what is not given is what it was
        recipe = found.identity.get("recipe") if recipe is None else recipe
        wanted_seed = found.identity.get("seed") if wanted_seed is None else wanted_seed
        wanted_budget = found.identity.get("budget") if wanted_budget is None else wanted_budget
    practice = practice_of(live, origin, minutes, episode, url, token, resume)
    job = job_for(loaded, policy, recipe, 1 if wanted_seed is None else wanted_seed, wanted_budget)
    if practice is not None:
        job = practice.job(job, found)
    again = portable_command(job, scenario, overrides or [], workload, whole, evaluation_seeds)
    with output(folder, None, loaded.name) as made:
        assert made is not None
        with locked(made):
            session = Session(job, made, seconds)
            if practice is not None:
                practice.enter(session, found)
            if found is None:
                session.begin()
            else:
                session.resume(found)
            with nullcontext() if practice is None else practice.running(session) as over:
                run(session, again, seeds, wanted_jobs, over)


def default_folder(scenario: Scenario, policy: str, recipe: str | None) -> Path:
    """``runs/SCENARIO/POLICY``, with the recipe where it is not the policy's first."""
    from trimtab.learn.job import split
    from trimtab.learn.recipe import named

    decision, name = split(scenario, policy)
    first = named(decision, name, None)
    return Path("runs") / scenario.name / (name if recipe in (None, first) else f"{name}-{recipe}")


def held(folder: Path, resume: bool, force: bool) -> Checkpoint | None:
    """The checkpoint to go on from; a folder that holds something is refused unless told what to do with it."""
    from trimtab.learn.checkpoint import Checkpoints
    from trimtab.policies.trained import is_trained

    checkpoints = Checkpoints(folder / "checkpoints")
    if resume:
        found = checkpoints.last()
        if found is None:
            raise TrimtabError(f"--resume: {str(folder)!r} holds no checkpoint to go on from")
        return found
    if force:
        return None
    if is_trained(folder):
        raise TrimtabError(f"out = {str(folder)!r} holds a trained policy already, --force replaces it")
    if checkpoints.units():
        raise TrimtabError(f"out = {str(folder)!r} holds a training, --resume goes on with it, --force starts anew")
    return None


def run(session: Session, again: str, seeds: list[int], jobs: int, over: Callable[[], bool] | None = None) -> None:
    """Train to the end or until ``over``, evaluate, and print the result; Ctrl-C leaves a checkpoint."""
    from trimtab.cli.training import EvaluationDisplay, TrainingDisplay, graceful_interrupt

    job = session.job
    try:
        with (
            graceful_interrupt() as stop,
            TrainingDisplay(job.unit, session.unit, job.budget) as display,
        ):
            session.train(display.trained, lambda: stop() or (over is not None and over()))
            interrupted = stop()
        if interrupted and not session.done:
            raise KeyboardInterrupt
        with EvaluationDisplay() as evaluation:
            about = session.finish(again, seeds, jobs, evaluation.ran)
    except KeyboardInterrupt:
        sys.stderr.write(f"Stopped; {session.kept}. To go on: {resume_command()}\n")
        raise
    print_result(about.evaluation, job, session.folder)


def print_result(evaluation: dict[str, Any], job: Job, folder: Path) -> None:
    """The table of the evaluation, the verdict in words, and where the policy is."""
    from rich.console import Console

    from trimtab.report.evaluation import evaluation_table, verdict

    console = Console(markup=False)
    if evaluation:
        console.print(evaluation_table(job.policy, evaluation, console.width))
        console.print(verdict(job.policy, evaluation), highlight=False)
    else:
        console.print("Not evaluated: trimtab compare says how good it is.", highlight=False)
    console.print(f"Policy: {folder}", highlight=False, soft_wrap=True)


def portable_command(
    job: Job, scenario: str, overrides: list[str], workload: str | None, whole: bool, seeds: str
) -> str:
    """The command that makes the same policy, every setting written out; of this machine's paths the names only."""
    policy = job.policy if job.decision == job.scenario.decision else f"{job.decision}/{job.policy}"
    words = ["trimtab", "train", _name(scenario), "--policy", policy, "--recipe", job.recipe]
    words += ["--budget", str(job.budget), "--seed", str(job.seed), "--evaluation-seeds", seeds]
    for override in overrides:
        key, _, value = override.partition("=")
        words += ["--set", f"{key}={_name(value)}"]
    if workload is not None:
        words += ["--workload", _name(workload)]
    return shlex.join([*words, "--all"] if whole else words)


def _name(text: str) -> str:
    return Path(text).name if Path(text).is_absolute() else text


def resume_command() -> str:
    """The command as it was given, to go on."""
    kept = [argument for argument in sys.argv[1:] if argument not in ("--force", "--resume")]
    return shlex.join(["trimtab", *kept, "--resume"])
