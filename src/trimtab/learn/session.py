"""The one training loop: units of a recipe, checkpoints, curve and log, and the finished policy at the end."""

from __future__ import annotations

import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NoReturn

from trimtab.errors import TrimtabError
from trimtab.learn.checkpoint import Checkpoint, Checkpoints
from trimtab.learn.curve import Curve
from trimtab.learn.evaluation import Watch, evaluate
from trimtab.learn.extra import training_extra
from trimtab.learn.job import Job
from trimtab.learn.log import Log, clear, require
from trimtab.learn.recipe import Learner, Progress, infinite
from trimtab.policies import trained
from trimtab.policies.trained import Description, Trained
from trimtab.whole import remove_partial, write_whole

EVERY = 30.0
"""Seconds between checkpoints."""
_LEARNER = "learner."
_CANDIDATE = ".candidate-"
_PATIENCE = 20.0
"""Training goes on for this many times as long as a checkpoint took, so that writing stays below 5 % of the time."""


class Session:
    """A training in a folder: begins or goes on, may be stopped after any unit, ends with a trained policy."""

    def __init__(self, job: Job, folder: Path, every: float = EVERY) -> None:
        self.job, self.folder, self.every = job, folder, every
        self.checkpoints = Checkpoints(folder / "checkpoints")
        self.curve = Curve()
        self._saved = -1
        """Units that the last checkpoint holds; -1 before the first."""
        self._clock = {"sessions": 1.0, "seconds": 0.0}
        with training_extra():
            require()
            self.learner: Learner = job.maker.start(job.scenario, job.seed, job.budget)
        _one_thread()

    @property
    def unit(self) -> int:
        """Units done."""
        return len(self.curve)

    @property
    def done(self) -> bool:
        """Whether the budget is used up."""
        return self.unit >= self.job.budget

    def begin(self) -> None:
        """Start anew: what an earlier training left in the folder goes, its finished policy aside."""
        with self._writing():
            self.checkpoints.clear()
            clear(self.folder / "log")
            self._tidy()
        self.save()

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of the same job."""
        self._expect(checkpoint)
        prefix = len(_LEARNER)
        mine = {name[prefix:]: array for name, array in checkpoint.arrays.items() if name.startswith(_LEARNER)}
        try:
            self.curve = Curve.restored(checkpoint.arrays, checkpoint.curve)
            self.learner.restore(mine, checkpoint.learner)
        except (KeyError, ValueError, TypeError, IndexError, RuntimeError) as error:
            raise TrimtabError(
                f"{self.checkpoints.path(checkpoint.unit)}: does not suit this version of {self.job.policy!r}: {error}"
            ) from error
        self._saved = checkpoint.unit
        self._clock = {**self._clock, **checkpoint.clock}
        self._clock["sessions"] += 1
        with self._writing():
            self._tidy()
            self._write_curve()

    def train(self, watch: Callable[[int, Progress], None], stop: Callable[[], bool] = lambda: False) -> None:
        """Train unit by unit until the budget is used up or ``stop`` says so; ends with a checkpoint."""
        with self._writing():
            log = Log(self.folder / "log", self.unit)
        with closing(log):
            due = time.monotonic() + self.every
            while not self.done and not stop():
                began = time.monotonic()
                progress = self.learner.step()
                self._clock["seconds"] += time.monotonic() - began
                self._check(progress)
                self.curve.add(progress)
                with self._writing():
                    log.add(self.unit, progress)
                watch(self.unit, progress)
                if time.monotonic() >= due:
                    with self._writing():
                        log.flush()
                    took = self.save()
                    due = time.monotonic() + (max(self.every, _PATIENCE * took) if self.every else 0.0)
            if self._saved != self.unit:
                self.save()
            with self._writing():
                log.flush()

    def save(self) -> float:
        """Write a checkpoint and the curve so far; returns the seconds that it took."""
        began = time.monotonic()
        mine, meta = self.learner.state()
        if bad := infinite(mine):
            self._stop_at(f"array {bad[0]!r} of the learner")
        columns, names = self.curve.state()
        arrays = {f"{_LEARNER}{name}": array for name, array in mine.items()} | columns
        with self._writing():
            self.checkpoints.write(Checkpoint(self.job.identity, self.unit, meta, names, dict(self._clock), arrays))
            self._saved = self.unit
            self._write_curve()
        return time.monotonic() - began

    def finish(self, command: str, seeds: list[int], jobs: int, watch: Watch) -> Description:
        """Evaluate the policy against every baseline, where there are seeds for it, and write its folder."""
        policy = self.learner.trained()
        began = time.monotonic()
        with self._writing(), tempfile.TemporaryDirectory(dir=self.folder, prefix=_CANDIDATE) as name:
            # what is evaluated is what will be there: written, and loaded from disk
            candidate = Path(name) / self.job.policy
            trained.save(candidate, policy)
            job = self.job
            evaluation = evaluate(job.scenario, job.decision, candidate, seeds, jobs, watch) if seeds else {}
        about = policy.description.model_copy(
            update={
                "recipe": self.job.recipe,
                "training": self.job.training(sum(self.curve.steps), command) | {"curve": self.curve.short()},
                "evaluation": evaluation,
            }
        )
        trained.save(self.folder, Trained(about, policy.arrays))
        self._write_times(time.monotonic() - began)
        return about

    def _write_curve(self) -> None:
        write_whole(self.folder / "curve.csv", self.curve.text().encode())

    def _write_times(self, evaluating: float) -> None:
        """All wall-clock figures, so that every other file is the same from run to run."""
        seconds = self._clock["seconds"]
        times = {
            "sessions": int(self._clock["sessions"]),
            "training_s": round(seconds, 3),
            "evaluation_s": round(evaluating, 3),
            "units_per_s": round(self.unit / max(seconds, 1e-9), 3),
            "steps_per_s": round(sum(self.curve.steps) / max(seconds, 1e-9), 1),
        }
        with self._writing():
            write_whole(self.folder / "training.json", (json.dumps(times, indent=1) + "\n").encode())

    def _check(self, progress: Progress) -> None:
        for name, value in {"reward": progress.reward, **progress.figures}.items():
            if not math.isfinite(value):
                self._stop_at(f"{name} = {value}", after=1)

    def _stop_at(self, what: str, after: int = 0) -> NoReturn:
        raise TrimtabError(
            f"training of {self.job.policy!r} stopped at {self.unit + after} of {self.job.budget} {self.job.unit}: "
            f"{what} is not finite; {self.kept}"
        )

    @property
    def kept(self) -> str:
        """Which checkpoint there is, for a person."""
        if self._saved < 0:
            return "there is no checkpoint yet"
        return f"the checkpoint after {self._saved} {self.job.unit} is kept in {str(self.checkpoints.folder)!r}"

    def _expect(self, checkpoint: Checkpoint) -> None:
        where = f"out = {str(self.folder)!r} holds a training with"
        for name in {**self.job.identity, **checkpoint.identity}:
            wanted, found = self.job.identity.get(name), checkpoint.identity.get(name)
            if found == wanted:
                continue
            if name == "hash":
                raise TrimtabError(f"{where} other settings of {self.job.scenario.name!r}, must be the same to resume")
            raise TrimtabError(f"{where} {name} = {found!r}, must be the same to resume, not {wanted!r}")

    def _tidy(self) -> None:
        """Remove what a killed process left half-written."""
        remove_partial(self.folder)
        remove_partial(self.checkpoints.folder)
        for path in self.folder.glob(f"{_CANDIDATE}*"):
            shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise TrimtabError(
                f"out = {str(self.folder)!r} cannot be written: {reason}; {self.kept}, --resume goes on from it"
            ) from None


def _one_thread() -> None:
    """Networks of this size are several times faster on one thread, and the same to the last bit."""
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(1)
