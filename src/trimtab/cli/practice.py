"""``trimtab train --live``: what a training on the live platform needs beside an ordinary one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trimtab.cli.options import parse_number
from trimtab.cli.reach import gateway
from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.learn.checkpoint import Checkpoint
    from trimtab.learn.job import Job
    from trimtab.learn.session import Session
    from trimtab.live.practice import Practice

_SAME = ("decision", "policy", "recipe")
_PREFIX = "learner."


@dataclass
class LivePractice:
    """A training in simulation goes on with real episodes."""

    origin: Path | None
    minutes: float
    seconds: float
    """Of an episode."""
    url: str | None
    token: str | None = None
    start: Checkpoint | None = None
    """Of the training in simulation; None where a training on the platform is resumed."""

    def job(self, job: Job, found: Checkpoint | None) -> Job:
        """The job as one on the platform, its budget beyond what the minutes allow."""
        if found is not None:
            return replace(job, origin=found.identity.get("origin", {}))
        from trimtab.learn.checkpoint import Checkpoints

        assert self.origin is not None
        self.start = Checkpoints(self.origin / "checkpoints").last()
        if self.start is None:
            raise TrimtabError(f"--from = {str(self.origin)!r} holds no checkpoint, must be the folder of a training")
        for name in _SAME:
            theirs, ours = self.start.identity.get(name), getattr(job, name)
            if theirs != ours:
                raise TrimtabError(f"--from = {str(self.origin)!r} holds a training with {name} = {theirs!r}, "
                                   f"must be the same, not {ours!r}")  # fmt: skip
        about = {name: self.start.identity.get(name) for name in ("scenario", "hash", "seed", "budget")}
        return replace(job, origin=about | {"units": self.start.unit})

    def enter(self, session: Session, found: Checkpoint | None) -> None:
        """Give the learner what was learned in simulation."""
        learner: Any = session.learner
        if not hasattr(learner, "settle"):
            raise TrimtabError(f"policy = {session.job.policy!r}, must be q-table or dqn to be trained with --live")
        if found is not None:
            return
        assert self.start is not None
        arrays = {
            name.removeprefix(_PREFIX): array for name, array in self.start.arrays.items() if name.startswith(_PREFIX)
        }
        try:
            learner.restore(arrays, self.start.learner)
            learner.settle()
        except (KeyError, ValueError, TypeError, IndexError, RuntimeError) as error:
            raise TrimtabError(f"--from = {str(self.origin)!r} does not suit this version: {error}") from error

    @contextmanager
    def running(self, session: Session) -> Iterator[Callable[[], bool]]:
        """A platform for the episodes; yields whether the time is up."""
        from trimtab.live.extra import live_extra

        with live_extra():
            from trimtab.live.background import running_platform
            from trimtab.live.practice import Practice, alone
        from trimtab.learn.scale.episode import World

        with ExitStack() as stack:
            url = self.url or stack.enter_context(running_platform(session.job.scenario))
            client = stack.enter_context(gateway(url, self.token))
            stack.enter_context(alone(client))
            practice = Practice(client)
            stack.callback(_tell, practice)
            world = World(practice.run, self.seconds)
            learner: Any = session.learner
            learner.world = world
            end = time.monotonic() + 60.0 * self.minutes
            yield lambda: time.monotonic() >= end


def _tell(practice: Practice) -> None:
    """What did not go as decided."""
    if practice.not_carried_out:
        count = practice.not_carried_out
        typer.echo(f"{count} new size{'s' if count > 1 else ''} of instances not carried out by the platform", err=True)


def practice_of(
    live: bool, origin: Path | None, minutes: str, episode: str, url: str | None, token: str | None, resume: bool
) -> LivePractice | None:
    """The options of ``--live``; None where it is not given."""
    if not live:
        if origin is not None or url is not None or token is not None:
            raise TrimtabError("--from, --url and --token go with --live")
        return None
    if (origin is None) != resume:
        raise TrimtabError("--live needs --from DIR, a training in simulation to go on from, or --resume")
    return LivePractice(
        origin,
        parse_number("--minutes", minutes, 0.01, 10_000),
        parse_number("--episode-seconds", episode, 1, 3600),
        url,
        token,
    )
