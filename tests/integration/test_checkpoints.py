"""Checkpoints on disk: whole, the last two kept, damage noticed."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.commands import files
from tests.recipes import identical

from trimtab import whole
from trimtab.errors import TrimtabError
from trimtab.learn.checkpoint import Checkpoint, Checkpoints, encoded

FIRST = Checkpoint(
    identity={"policy": "tiny", "seed": 1},
    unit=3,
    learner={"state": 2**100 + 1, "third": 1 / 3},
    curve=["loss"],
    clock={"seconds": 1.5, "sessions": 1.0},
    arrays={
        "learner.w": np.random.default_rng(1).normal(size=(3, 2)),
        "learner.single": np.array(7, dtype=np.int64),
        "learner.bytes": np.arange(5, dtype=np.uint8),
        "learner.none": np.zeros((0, 4), dtype=np.float32),
        "learner.flags": np.array([True, False]),
        "curve.reward": np.array([1.0, np.nan]),
    },
)


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "checkpoints")


def test_round_trip(checkpoints: Checkpoints) -> None:
    assert checkpoints.last() is None
    checkpoints.write(FIRST)
    found = checkpoints.last()
    assert found is not None
    assert replace(found, arrays={}) == replace(FIRST, arrays={})
    assert identical(found.arrays, FIRST.arrays)


def test_the_last_two_are_kept(checkpoints: Checkpoints) -> None:
    for unit in (0, 3, 10, 12):
        checkpoints.write(replace(FIRST, unit=unit))
    assert files(checkpoints.folder) == ["00000010.safetensors", "00000012.safetensors"]
    checkpoints.clear()
    assert files(checkpoints.folder) == []


@pytest.mark.parametrize("place", [0, 30, -1, -300])
def test_a_damaged_one_is_passed_over(place: int, checkpoints: Checkpoints) -> None:
    checkpoints.write(FIRST)
    checkpoints.write(replace(FIRST, unit=4))
    content = bytearray(checkpoints.path(4).read_bytes())
    content[place] ^= 0x5A
    checkpoints.path(4).write_bytes(content)
    found = checkpoints.last()
    assert found is not None
    assert found.unit == 3


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"identity": "tiny"}, "identity is a str, must be of type dict"),
        ({"identity": {"seed": "1"}}, "seed = '1', must be of type int"),
        ({"unit": "3"}, "unit is a str, must be of type int"),
        ({"learner": None}, "learner is a NoneType, must be of type dict"),
        ({"clock": {"seconds": []}}, "seconds = [], must be a number"),
    ],
)
def test_a_header_of_other_kinds_is_one_line(change: dict[str, Any], line: str, checkpoints: Checkpoints) -> None:
    checkpoints.folder.mkdir()
    checkpoints.path(3).write_bytes(encoded(replace(FIRST, **change)))
    with pytest.raises(TrimtabError, match=r"is not a checkpoint: TypeError: ") as caught:
        checkpoints.last()
    assert line in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\0" * 9, pickle.dumps({"a": 1}), b"PK\3\4" + b"\0" * 100])
def test_what_is_no_checkpoint_is_one_line(content: bytes, checkpoints: Checkpoints) -> None:
    checkpoints.folder.mkdir()
    checkpoints.path(1).write_bytes(content)
    with pytest.raises(TrimtabError, match=r"00000001.safetensors: is not a checkpoint: ") as caught:
        checkpoints.last()
    assert "\n" not in str(caught.value)


def test_a_full_disk_keeps_those_that_are_there(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints.write(FIRST)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        checkpoints.write(replace(FIRST, unit=4))
    assert files(checkpoints.folder) == ["00000003.safetensors"]


def test_what_a_killed_process_left_is_not_read_and_goes(checkpoints: Checkpoints) -> None:
    checkpoints.write(FIRST)
    (checkpoints.folder / ".00000004.safetensors.abc.part").write_bytes(b"half")
    assert checkpoints.units() == [3]
    whole.remove_partial(checkpoints.folder)
    assert files(checkpoints.folder) == ["00000003.safetensors"]
