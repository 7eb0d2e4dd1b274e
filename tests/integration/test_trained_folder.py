"""The folder of a trained policy: what comes back is what was written, and whatever is wrong with it is one line."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as bytes_of
from tests import tiny
from tests.commands import files, trimtab
from tests.recipes import identical

from trimtab import whole
from trimtab.errors import TrimtabError
from trimtab.policies import trained
from trimtab.policies.trained import Description, Trained

QUICK = ("compare", "faasrank-m2", "--seeds", "1", "--json", "-")
ABOUT = Description(
    decision="place",
    policy="tiny",
    recipe="best",
    features=tiny.FEATURES,
    settings={"scale": 0.1, "names": ["ä", "b"]},
    training={"seed": 1},
)


pytestmark = pytest.mark.usefixtures("tiny_policy")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trained.save(tmp_path / "good", Trained(ABOUT, {"weights": np.array([-1.0, 2.0, 0.5])}))
    return tmp_path / "good"


def test_round_trip(tmp_path: Path) -> None:
    arrays = {
        "weights": np.random.default_rng(1).normal(size=(3, 4)),
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "single": np.array(2.5),
        "none": np.zeros((0, 3)),
        "small": np.arange(3, dtype=np.float32),
        "whole": np.array([1, 2, 3], dtype=np.int64),
    }
    trained.save(tmp_path / "a" / "b", Trained(ABOUT, arrays))
    found = trained.load(tmp_path / "a" / "b")
    assert identical(found.arrays, arrays)
    content = (tmp_path / "a" / "b" / "weights.safetensors").read_bytes()
    assert found.description == ABOUT.model_copy(update={"weights": hashlib.sha256(content).hexdigest()})
    assert files(tmp_path / "a" / "b") == ["policy.json", "weights.safetensors"]


def test_the_same_policy_is_the_same_bytes(tmp_path: Path) -> None:
    arrays = {"b": np.arange(3.0), "a": np.arange(4.0)}
    trained.save(tmp_path / "one", Trained(ABOUT, arrays))
    trained.save(tmp_path / "two", Trained(ABOUT, dict(reversed(arrays.items()))))
    for name in ("policy.json", "weights.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_what_is_not_a_number_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(TrimtabError, match="weights 'weights' are not all finite, must be"):
        trained.save(tmp_path / "bad", Trained(ABOUT, {"weights": np.array([1.0, np.nan, 0.0])}))
    assert files(tmp_path) == []


def other(value: float) -> Trained:
    return Trained(ABOUT.model_copy(update={"recipe": "other"}), {"weights": np.full(3, value)})


def test_a_crash_between_the_files_never_leaves_a_mixture_that_loads(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def crash(self: Path, target: Path) -> Path:
        if Path(target).name == "policy.json":
            raise KeyboardInterrupt  # stands for a power cut: nothing after it runs but what cleans up
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        trained.save(folder, other(9.0))
    with pytest.raises(TrimtabError, match=r"weights.safetensors is not the file that policy.json was written with"):
        trained.load(folder)
    monkeypatch.undo()
    trained.save(folder, other(9.0))
    assert trained.load(folder).arrays["weights"].tolist() == [9.0, 9.0, 9.0]


@pytest.mark.parametrize("existed", [True, False])
def test_a_full_disk_changes_nothing(existed: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not existed:
        shutil.rmtree(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()} if existed else None
    calls = []

    def fsync(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:  # the weights are there under another name, the description does not fit
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole.os, "fsync", fsync)
    with pytest.raises(TrimtabError, match=r"^out = '.*good', must be writable: No space left on device$"):
        trained.save(folder, other(9.0))
    assert ({path.name: path.read_bytes() for path in folder.iterdir()} if existed else None) == before
    assert folder.exists() is existed


def rewrite(folder: Path, change: dict[str, Any]) -> None:
    content = json.loads((folder / "policy.json").read_text())
    (folder / "policy.json").write_text(json.dumps(content | change))


def weights(folder: Path, content: bytes) -> None:
    """Other weights, with the digest that goes with them."""
    (folder / "weights.safetensors").write_bytes(content)
    rewrite(folder, {"weights": hashlib.sha256(content).hexdigest()})


class Boom:
    """Pickled, this would write a file when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.system, ("touch executed",))


def zipped(folder: Path) -> None:
    with zipfile.ZipFile(folder / "weights.safetensors", "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Boom()))
    rewrite(folder, {"weights": hashlib.sha256((folder / "weights.safetensors").read_bytes()).hexdigest()})


def cut(folder: Path, name: str, length: int) -> None:
    content = (folder / name).read_bytes()[:length]
    (folder / name).write_bytes(content)


def numbers(**arrays: Any) -> bytes:
    return bytes(bytes_of({name: np.asarray(array) for name, array in arrays.items()}))


NO_SAFETENSORS = "weights.safetensors is not a safetensors file of plain numbers: "
DAMAGE: list[tuple[Any, str]] = [
    (lambda f: (f / "policy.json").unlink(), "policy.json cannot be read: No such file or directory"),
    (lambda f: (f / "weights.safetensors").unlink(), "weights.safetensors cannot be read: No such file or directory"),
    (lambda f: ((f / "policy.json").unlink(), (f / "policy.json").mkdir()), "policy.json cannot be read: Is a"),
    (lambda f: ((f / "policy.json").unlink(), os.mkfifo(f / "policy.json")), "policy.json must be a file, not a pipe"),
    (lambda f: (f / "policy.json").write_text("{"), "policy.json is not JSON: "),
    (lambda f: (f / "policy.json").write_bytes(b"\xff\x00\xfe"), "policy.json is not JSON: "),
    (lambda f: (f / "policy.json").write_text("[" * 100_000), "policy.json is not JSON: "),
    (lambda f: (f / "policy.json").write_text('{"format": ' + "9" * 5000 + "}"), "policy.json is not JSON: "),
    (lambda f: (f / "policy.json").write_text("[1]"), "policy.json holds a list, must be an object"),
    (lambda f: (f / "policy.json").write_text('{"format": 1, "settings": NaN}'), "policy.json is not JSON: NaN is no"),
    (lambda f: rewrite(f, {"format": 2}), "policy.json: format = 2, must be 1"),
    (lambda f: rewrite(f, {"format": None}), "policy.json: format = None, must be 1"),
    (lambda f: rewrite(f, {"fetaures": []}), "policy.json: fetaures: unknown key, must be one of: format, decision,"),
    (lambda f: rewrite(f, {"features": "cpu"}), "policy.json: features: "),
    (lambda f: rewrite(f, {"features": [1, 2, 3]}), "policy.json: features.0: "),
    (lambda f: rewrite(f, {"features": ["inflight", "memory", "warm"]}), "feature 2 = 'memory', must be 'warm': the"),
    (lambda f: rewrite(f, {"features": ["inflight", "warm"]}), "feature 'memory' is missing, must be there"),
    (lambda f: rewrite(f, {"features": ["inflight", "warm", "memroy"]}), "feature = 'memroy', must be one of: "),
    (lambda f: rewrite(f, {"policy": "tini"}), "place policy = 'tini', must be one of: "),
    (lambda f: rewrite(f, {"weights": ""}), "weights.safetensors is not the file that policy.json was written with"),
    (lambda f: weights(f, numbers(weights=[1.0, 2.0])), "weights 'weights' have shape (2,), must be (3,)"),
    (lambda f: weights(f, numbers(wieghts=[1.0, 2.0, 3.0])), "weights lack 'weights', must hold: weights"),
    (lambda f: weights(f, numbers(weights=[1.0, 2, 3], more=[1.0])), "weights hold 'more', must hold only: weights"),
    (lambda f: weights(f, numbers(weights=[1.0, np.nan, 3])), "weights 'weights' are not all finite, must be"),
    (lambda f: weights(f, numbers(weights=[1.0, np.inf, 3])), "weights 'weights' are not all finite, must be"),
    (lambda f: weights(f, numbers(weights=[True, False, True])), "weights 'weights' are bool, must be numbers"),
    (lambda f: (f / "weights.safetensors").write_bytes(numbers(weights=[3.0, 2.0, 1.0])), "weights.safetensors is not"),
    (lambda f: cut(f, "weights.safetensors", 40), NO_SAFETENSORS),
    (lambda f: cut(f, "weights.safetensors", 0), NO_SAFETENSORS),
    (lambda f: cut(f, "policy.json", 100), "policy.json is not JSON: "),
    (lambda f: weights(f, struct.pack("<Q", 2**62) + b"{}"), NO_SAFETENSORS),
    (lambda f: weights(f, pickle.dumps(Boom())), NO_SAFETENSORS),
    (zipped, NO_SAFETENSORS),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "line"), DAMAGE, ids=[line[:50] for _, line in DAMAGE])
def test_damage(damage: Any, line: str, folder: Path) -> None:
    damage(folder)
    before = files(folder.parent)
    complaint = trimtab(*QUICK, "--policies", "good", folder=folder.parent).complaint
    assert complaint.startswith(f"good: {line}"), complaint
    assert files(folder.parent) == before  # nothing executed, nothing written


def test_a_file_that_is_too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained, "_LARGEST", 10)
    complaint = trimtab(*QUICK, "--policies", "good", folder=folder.parent).complaint
    assert complaint == "good: policy.json is larger than 10 bytes, must be smaller"


def test_a_folder_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root nothing is forbidden, so what the system would say is said here."""

    def forbidden(self: Path, *arguments: Any, **more: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", forbidden)
    assert trained.is_trained(folder)
    monkeypatch.undo()
    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(TrimtabError, match=r"policy.json cannot be read: Permission denied$"):
        trained.load(folder)


def test_a_name_that_is_no_path(tmp_path: Path) -> None:
    for name in ("x" * 300, "a\0b"):
        assert not trained.is_trained(Path(name))
    assert "place policy = 'xxx" in trimtab(*QUICK, "--policies", "x" * 300, folder=tmp_path).complaint


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "no/where"):
        complaint = trimtab(*QUICK, "--policies", name, folder=tmp_path).complaint
        assert complaint == (
            f"policy = {name!r}, must be a folder with policy.json and weights.safetensors to be a trained policy"
        )


def compared(folder: Path, policies: str) -> Any:
    return trimtab(*QUICK, "--policies", policies, folder=folder).json["policies"]


def test_labels_are_names_of_folders(folder: Path) -> None:
    assert list(compared(folder.parent, "hashing,./good")) == ["hashing", "good"]
    shutil.copytree(folder, folder.parent / "deep" / "good")
    shutil.copytree(folder, folder.parent / "deep" / "hashing")
    found = compared(folder.parent, "good,deep/good,deep/hashing,hashing")
    assert list(found) == ["good", "deep/good", "deep/hashing", "hashing"]
    assert found["good"]["mean_fct_s"] == found["deep/good"]["mean_fct_s"] != found["hashing"]["mean_fct_s"]
    assert list(compared(folder, ".")) == ["good"]
    assert list(compared(folder.parent, "place/good")) == ["good"]
    twice = trimtab(*QUICK, "--policies", "good,deep/../good", folder=folder.parent).complaint
    assert twice == "policy = 'deep/../good' is there twice, must be given once"


def test_a_fixed_name_is_not_a_folder(folder: Path) -> None:
    folder.rename(folder.parent / "hashing")
    plain, own = (compared(folder.parent, name) for name in ("hashing", "./hashing"))
    assert plain["hashing"]["mean_fct_s"] != own["hashing"]["mean_fct_s"]


def test_a_policy_for_another_decision(folder: Path) -> None:
    complaint = trimtab("compare", "aset-full-edge", "--policies", "good", folder=folder.parent).complaint
    assert complaint == "policy = 'good' takes place decisions, the decision here is route"


def test_using_one_needs_no_library_of_training(folder: Path) -> None:
    check = "import atexit, sys; atexit.register(lambda: print(sorted({'torch', 'tensorboard'} & sys.modules.keys())))"
    done = subprocess.run(
        [sys.executable, "-c", tiny.code(check), *QUICK[:4], "--policies", "good", "--out", "o"], cwd=folder.parent,
        env=tiny.environment(), text=True, capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"
