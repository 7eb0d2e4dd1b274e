"""Checkpoints of a training: one file each, whole or not at all, the last two kept.

A file is a safetensors file whose header carries a JSON text: what is trained, where it stands, and a digest of
the arrays. Reading one executes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.learn.recipe import State
from trimtab.whole import remove_partial, write_whole

KEPT = 2
_FORMAT = 1
_KEY = "trimtab"


@dataclass(frozen=True)
class Checkpoint:
    """Where a training stands."""

    identity: dict[str, Any]
    """What is trained: all that must be the same for a training to go on."""
    unit: int
    """Units done."""
    learner: dict[str, Any]
    """The learner's own JSON."""
    curve: list[str]
    """Figures of the learning curve, in order; its columns are among the arrays."""
    clock: dict[str, float]
    """Wall-clock figures, which no result depends on."""
    arrays: State


class Checkpoints:
    """The checkpoints in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def units(self) -> list[int]:
        """Units of those that are there, the last first."""
        found = []
        with suppress(OSError):
            for path in self.folder.iterdir():
                if path.suffix == ".safetensors" and path.stem.isdecimal():
                    found.append(int(path.stem))
        return sorted(found, reverse=True)

    def path(self, unit: int) -> Path:
        """Where the checkpoint after ``unit`` units is."""
        return self.folder / f"{unit:08d}.safetensors"

    def write(self, checkpoint: Checkpoint) -> None:
        """Write one, then remove those before the last two. If it cannot be written, the others stay."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.path(checkpoint.unit), encoded(checkpoint))
        for unit in self.units()[KEPT:]:
            self.path(unit).unlink(missing_ok=True)

    def last(self) -> Checkpoint | None:
        """The last that can be read; None where there is none. A damaged one is passed over if there is another."""
        complaint: TrimtabError | None = None
        for unit in self.units():
            try:
                return decoded(self.path(unit))
            except TrimtabError as error:
                complaint = complaint or error
        if complaint is not None:
            raise complaint
        return None

    def clear(self) -> None:
        """Remove all of them, and what a killed process left."""
        for unit in self.units():
            self.path(unit).unlink(missing_ok=True)
        remove_partial(self.folder)


def encoded(checkpoint: Checkpoint) -> bytes:
    """The content of a checkpoint's file."""
    from safetensors.numpy import save

    # not ascontiguousarray, which makes a vector of a single number
    arrays = {name: np.array(checkpoint.arrays[name], order="C") for name in sorted(checkpoint.arrays)}
    meta = {
        "format": _FORMAT,
        "identity": checkpoint.identity,
        "unit": checkpoint.unit,
        "learner": checkpoint.learner,
        "curve": checkpoint.curve,
        "clock": checkpoint.clock,
        "digest": _digest(arrays),
    }
    return bytes(save(arrays, metadata={_KEY: json.dumps(meta, allow_nan=False)}))


def decoded(path: Path) -> Checkpoint:
    """Read and check a checkpoint; every mistake is one line."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            meta = json.loads((file.metadata() or {})[_KEY])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
        if meta["format"] != _FORMAT:
            raise TrimtabError(f"{path}: format = {meta['format']!r}, must be {_FORMAT}")
        if meta["digest"] != _digest(arrays):
            raise TrimtabError(f"{path}: is damaged: its arrays are not those that were written")
        _check(meta)
        return Checkpoint(meta["identity"], meta["unit"], meta["learner"], meta["curve"], meta["clock"], arrays)
    except OSError as error:
        raise TrimtabError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TrimtabError(f"{path}: is not a checkpoint: {type(error).__name__}: {error}") from None


def _check(meta: dict[str, Any]) -> None:
    """The digest is of the arrays only: a header may be damaged and still be JSON."""
    kinds = {"identity": dict, "unit": int, "learner": dict, "curve": list, "clock": dict}
    for name, kind in kinds.items():
        if not isinstance(meta[name], kind):
            raise TypeError(f"{name} is a {type(meta[name]).__name__}, must be of type {kind.__name__}")
    for name, kind in {"recipe": str, "seed": int, "budget": int}.items():
        if not isinstance(meta["identity"].get(name, kind()), kind):
            raise TypeError(f"{name} = {meta['identity'][name]!r}, must be of type {kind.__name__}")
    for name, value in meta["clock"].items():
        if not isinstance(value, int | float):
            raise TypeError(f"{name} = {value!r}, must be a number")


def _digest(arrays: Mapping[str, Any]) -> str:
    held = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        held.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        held.update(np.array(array, order="C").tobytes())
    return held.hexdigest()
