"""The TensorBoard log of a training, written by tensorboard's own record writer: no torch needed."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from trimtab.learn.recipe import Progress

_PREFIX = "events.out.tfevents."
_VERSION = "brain.Event:2"


def require() -> None:
    """Fail if tensorboard is not there, before anything is written."""
    import tensorboard.compat.proto  # noqa: F401


def clear(folder: Path) -> None:
    """Remove what an earlier training logged, and nothing that somebody else may keep in the folder."""
    for path in _ours(folder):
        path.unlink(missing_ok=True)


def _ours(folder: Path) -> list[Path]:
    return [path for path in folder.glob(f"{_PREFIX}*") if path.name.removeprefix(_PREFIX).isdecimal()]


class Log:
    """Scalars by unit, in a file that is named by the unit it begins after.

    A training that goes on from a checkpoint begins another file, which tells TensorBoard to forget what an
    earlier one says of the units that are trained again.
    """

    def __init__(self, folder: Path, after: int) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        folder.mkdir(parents=True, exist_ok=True)
        for path in _ours(folder):
            if path.name.removeprefix(_PREFIX) > f"{after:08d}":
                path.unlink()
        self._file = (folder / f"{_PREFIX}{after:08d}").open("wb")
        self._records = RecordWriter(self._file)
        self._put(file_version=_VERSION)
        if after:
            session = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            self._put(step=after + 1, session_log=session)

    def add(self, unit: int, progress: Progress) -> None:
        """What one unit brought."""
        figures = {"reward": progress.reward, "steps": float(progress.steps), **progress.figures}
        values = [self._summary.Value(tag=tag, simple_value=value) for tag, value in figures.items()]
        self._put(step=unit, summary=self._summary(value=values))

    def flush(self) -> None:
        """Hand over what was added to the system."""
        self._file.flush()

    def close(self) -> None:
        """The end of the log; what does not fit on the disk any more is lost with it."""
        with suppress(OSError):  # a full disk has been reported where it mattered, by a flush or a checkpoint
            self._file.close()

    def _put(self, **content: Any) -> None:
        self._records.write(self._event(wall_time=time.time(), **content).SerializeToString())
