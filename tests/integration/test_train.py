"""``trimtab train``: what it writes, and that a break changes nothing of it."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests import tiny
from tests.commands import Result, files, trimtab
from tests.recipes import assert_keeps_the_contract
from tests.tiny import BUDGET, SHORT, TRAIN, WHOLE

from trimtab import whole
from trimtab.learn.checkpoint import Checkpoints
from trimtab.learn.lock import locked
from trimtab.learn.recipe import RECIPES
from trimtab.policies import registry, trained
from trimtab.scenario.digest import digest
from trimtab.scenario.load import load_scenario

ARGUMENTS = (*TRAIN, *WHOLE, "--checkpoint-every", "0")
RESULT = ("curve.csv", "policy.json", "weights.safetensors")

pytestmark = pytest.mark.usefixtures("tiny_policy")


def same(one: Path, other: Path) -> bool:
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in RESULT)


def test_the_tiny_recipe_keeps_the_contract() -> None:
    assert_keeps_the_contract(tiny.recipe, load_scenario("faasrank-m2", ["workload.calls=40"]))


def test_what_is_written(unbroken: Path) -> None:
    assert files(unbroken) == [
        "checkpoints",
        "checkpoints/00000000.safetensors",
        "checkpoints/00000020.safetensors",
        "curve.csv",
        "log",
        "log/events.out.tfevents.00000000",
        "policy.json",
        "training.json",
        "weights.safetensors",
    ]
    lines = (unbroken / "curve.csv").read_text().splitlines()
    assert lines[0] == "unit,reward,steps,norm"
    assert [line.split(",")[0] for line in lines[1:]] == [str(unit) for unit in range(1, BUDGET + 1)]
    times = json.loads((unbroken / "training.json").read_text())
    assert times["sessions"] == 1
    assert times["steps_per_s"] > 0


def test_what_policy_json_says(unbroken: Path) -> None:
    about = json.loads((unbroken / "policy.json").read_text())
    scenario = load_scenario("faasrank-m2", ["workload.duration=20 s", "workload.calls=40"])
    training, evaluation = about["training"], about["evaluation"]
    assert about["features"] == list(tiny.FEATURES)
    assert training["hash"] == evaluation["hash"] == digest(scenario)
    assert training["steps"] == sum(
        int(line.split(",")[2]) for line in (unbroken / "curve.csv").read_text().splitlines()[1:]
    )
    assert (training["seed"], training["budget"], training["unit"]) == (1, BUDGET, "generations")
    assert training["command"] == (
        "trimtab train faasrank-m2 --policy tiny --recipe best --budget 20 --seed 1 --evaluation-seeds 2 "
        "--set 'workload.duration=20 s' --set workload.calls=40"
    )
    assert {"trimtab", "python", "numpy", "numba"} <= training["versions"].keys()
    assert evaluation["seeds"] == [1, 2]
    assert list(evaluation["baselines"]) == list(registry.BUILT_IN["place"])
    assert sorted(name for group in evaluation["verdict"].values() for name in group) == sorted(
        registry.BUILT_IN["place"]
    )
    assert str(unbroken) not in json.dumps(about)
    assert "/" not in json.dumps(about).replace("place/", "").replace("1/", "")


def test_what_a_person_sees(unbroken: Path) -> None:
    out, err = ((unbroken.parent / name).read_text() for name in ("stdout", "stderr"))
    assert "tiny is " in out
    assert "drain-ahead" in out
    assert out.splitlines()[-1] == "Policy: whole"
    assert f"{BUDGET} of {BUDGET} generations: reward " in err.splitlines()[-1]


def test_it_learns(unbroken: Path) -> None:
    """From a score that knows nothing to one that spreads load and prefers warm containers."""
    weights = trained.load(unbroken).arrays["weights"]
    assert weights[0] < 0
    evaluation = json.loads((unbroken / "policy.json").read_text())["evaluation"]
    assert evaluation["policy"]["mean_fct_s"] < evaluation["baselines"]["hashing"]["mean_fct_s"]


def test_the_evaluation_is_what_compare_finds(unbroken: Path) -> None:
    found = trimtab(
        "compare", "faasrank-m2", *TRAIN[4:], "--policies", "hashing,whole", "--seeds", "2", "--json", "-",
        folder=unbroken.parent,
    ).json  # fmt: skip
    evaluation = json.loads((unbroken / "policy.json").read_text())["evaluation"]
    assert found["policies"]["whole"]["mean_fct_s"] == evaluation["policy"]["mean_fct_s"]
    change = found["policies"]["whole"]["vs_baseline"]["mean_fct_s"]
    assert change["change"] == evaluation["baselines"]["hashing"]["change"]
    assert change["ci95"] == evaluation["baselines"]["hashing"]["ci95"]


def test_files_of_somebody_else_stay(tmp_path: Path) -> None:
    theirs = [tmp_path / "o" / "log" / "notes.txt", tmp_path / "o" / "log" / "events.out.tfevents.17.host"]
    theirs[0].parent.mkdir(parents=True)
    for path in theirs:
        path.write_text("kept")
    assert trimtab(*SHORT, "--out", "o", folder=tmp_path).code == 0
    assert trimtab(*SHORT, "--out", "o", "--force", folder=tmp_path).code == 0
    assert [path.read_text() for path in theirs] == ["kept", "kept"]


def test_the_log_is_tensorboards(unbroken: Path) -> None:
    scalars = logged(unbroken / "log")
    curve = [line.split(",") for line in (unbroken / "curve.csv").read_text().splitlines()[1:]]
    assert [step for step, _ in scalars["reward"]] == list(range(1, BUDGET + 1))
    assert [value for _, value in scalars["reward"]] == [float(np.float32(float(row[1]))) for row in curve]
    assert scalars.keys() == {"reward", "steps", "norm"}


def logged(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return {tag: [(each.step, each.value) for each in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def run(folder: Path, before: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", tiny.code(before), *arguments], cwd=folder, env=tiny.environment(), text=True,
        capture_output=True, check=False,
    )  # fmt: skip


def test_killed_and_resumed_is_as_if_unbroken(unbroken: Path, tmp_path: Path) -> None:
    """Killed in the midst of a generation, then while a checkpoint is written, then left alone."""
    out = tmp_path / "o"
    killed = run(tmp_path, f"tiny.SIGNALS[7] = {int(signal.SIGKILL)}", *ARGUMENTS, "--out", "o")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert Checkpoints(out / "checkpoints").units() == [6, 5]
    # going on writes the curve (2 flushes: file and folder), then checkpoint and curve for each generation
    killed = run(tmp_path, "tiny.kill_at_flush(2 + 3 * 4 + 1)", *ARGUMENTS, "--out", "o", "--resume")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert Checkpoints(out / "checkpoints").units() == [9, 8]
    assert [name for name in files(out / "checkpoints") if name.endswith(".part")]
    assert not (out / "policy.json").exists()
    (out / ".candidate-x").mkdir()  # as a kill in the evaluation would leave it
    result = trimtab(*TRAIN, "--evaluation-seeds", "2", "--out", "o", "--resume", folder=tmp_path)
    assert result.code == 0, result.err
    assert same(out, unbroken)
    assert json.loads((out / "training.json").read_text())["sessions"] == 3
    assert logged(out / "log") == logged(unbroken / "log")
    assert [name for name in files(out) if name.startswith(".") or name.endswith(".part")] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed_is_as_if_unbroken(number: int, unbroken: Path, tmp_path: Path) -> None:
    """The generation in hand comes to its end, and a checkpoint is written although none is due."""
    seldom = ["--checkpoint-every", "3600"]
    done = run(tmp_path, f"tiny.SIGNALS[7] = {int(number)}", *ARGUMENTS, "--out", "o", *seldom)
    assert done.returncode == 130, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1] == (
        "Stopped; the checkpoint after 7 generations is kept in 'o/checkpoints'. To go on: trimtab train "
        "faasrank-m2 --policy tiny --set 'workload.duration=20 s' --set workload.calls=40 --budget 20 "
        "--evaluation-seeds 2 --checkpoint-every 0 --out o --checkpoint-every 3600 --resume"
    )
    assert "Stopping after this unit" in done.stderr
    assert (tmp_path / "o" / "curve.csv").read_text().count("\n") == 7 + 1
    assert trimtab(*ARGUMENTS, "--out", "o", "--resume", folder=tmp_path).code == 0
    assert same(tmp_path / "o", unbroken)


def test_a_second_interrupt_leaves_at_once(tmp_path: Path) -> None:
    """In the midst of the generation, with the checkpoint before it."""
    twice = f"tiny.SIGNALS[3] = {int(signal.SIGINT)}; tiny.TIMES = 2"
    done = run(tmp_path, twice, *SHORT, "--out", "o")
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert Checkpoints(tmp_path / "o" / "checkpoints").units() == [2, 1]


def test_resuming_what_is_finished_evaluates_again(unbroken: Path, tmp_path: Path) -> None:
    assert trimtab(*SHORT, "--out", "o", folder=tmp_path).code == 0
    before = (tmp_path / "o" / "policy.json").read_bytes()
    assert trimtab(*SHORT, "--out", "o", "--resume", folder=tmp_path).code == 0
    assert (tmp_path / "o" / "policy.json").read_bytes() == before
    assert trimtab(*TRAIN, "--out", "o", "--resume", "--evaluation-seeds", "7,9", folder=tmp_path).code == 0
    assert json.loads((tmp_path / "o" / "policy.json").read_text())["evaluation"]["seeds"] == [7, 9]


def test_another_seed_is_another_policy(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        assert trimtab(*SHORT, "--seed", seed, "--out", seed, folder=tmp_path).code == 0
    assert (tmp_path / "1/weights.safetensors").read_bytes() != (tmp_path / "2/weights.safetensors").read_bytes()


def test_what_is_there_is_not_overwritten_unasked(tmp_path: Path) -> None:
    assert trimtab(*SHORT, folder=tmp_path).code == 0
    out = "runs/faasrank-m2/tiny"
    before = (tmp_path / out / "policy.json").read_bytes()
    assert trimtab(*SHORT, folder=tmp_path).complaint == (
        f"out = {out!r} holds a trained policy already, --force replaces it"
    )
    (tmp_path / out / "policy.json").unlink()
    (tmp_path / out / "weights.safetensors").unlink()
    assert trimtab(*SHORT, folder=tmp_path).complaint == (
        f"out = {out!r} holds a training, --resume goes on with it, --force starts anew"
    )
    assert trimtab(*SHORT, "--force", folder=tmp_path).code == 0
    assert (tmp_path / out / "policy.json").read_bytes() == before


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A folder with a training that stopped for want of a number after three generations."""
    (tmp_path / "mine.yaml").write_text("name: other\nhosts: [{name: h, cores: 1, memory: 1 GiB}]\n"
                                        "functions: [{name: f}]\n"
                                        "workload: {source: poisson, rate: 1 /s, duration: 9 s}\n")  # fmt: skip
    result = trimtab(*SHORT, "--recipe", "broken-loss", "--out", "o", folder=tmp_path)
    assert result.code == 2
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--recipe", "best"], "recipe = 'broken-loss', must be the same to resume, not 'best'"),
        (["--seed", "2"], "seed = 1, must be the same to resume, not 2"),
        (["--budget", "6"], "budget = 5, must be the same to resume, not 6"),
        (["--set", "workload.calls=41"], "other settings of 'faasrank-m2', must be the same to resume"),
    ],
)
def test_resuming_something_else(arguments: list[str], line: str, begun: Path) -> None:
    before = files(begun)
    complaint = trimtab(*TRAIN, *arguments, "--out", "o", "--resume", folder=begun).complaint
    assert complaint == f"out = 'o' holds a training with {line}"
    assert files(begun) == before


def test_resuming_another_policy(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECIPES, ("place", "other", "best"), "tests.tiny:recipe")
    complaint = trimtab(*TRAIN, "--policy", "other", "--out", "o", "--resume", folder=begun).complaint
    assert complaint == "out = 'o' holds a training with policy = 'tiny', must be the same to resume, not 'other'"


def test_resuming_another_scenario(begun: Path) -> None:
    complaint = trimtab("train", "mine.yaml", "--policy", "tiny", "--out", "o", "--resume", folder=begun).complaint
    assert complaint == (
        "out = 'o' holds a training with scenario = 'faasrank-m2', must be the same to resume, not 'other'"
    )


@pytest.mark.parametrize(
    ("recipe", "what", "units"),
    [
        ("broken-reward", "reward = nan is not finite", 3),
        ("broken-loss", "loss = inf is not finite", 3),
        ("broken-weights", "array 'weights' of the learner is not finite", 3),
    ],
)
def test_what_is_not_finite_stops_training(recipe: str, what: str, units: int, tmp_path: Path) -> None:
    result = trimtab(*SHORT, "--recipe", recipe, "--out", "o", folder=tmp_path)
    assert result.code == 2
    assert result.err.splitlines()[-1] == (
        f"trimtab: error: training of 'tiny' stopped at 4 of 5 generations: {what}; "
        f"the checkpoint after {units} generations is kept in 'o/checkpoints'"
    )
    last = Checkpoints(tmp_path / "o" / "checkpoints").last()
    assert last is not None
    assert last.unit == units
    assert all(math.isfinite(value) for array in last.arrays.values() for value in array.ravel().tolist())
    assert not (tmp_path / "o" / "policy.json").exists()


def complaint_of(result: Result) -> str:
    """The last line; lines of progress may come before it."""
    assert result.code == 2, result.err
    return result.err.splitlines()[-1].removeprefix("trimtab: error: ")


def test_a_full_disk_loses_nothing(unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync, calls = os.fsync, []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 30:
            raise OSError(28, "No space left on device")
        fsync(handle)

    monkeypatch.setattr(whole.os, "fsync", full)
    result = trimtab(*ARGUMENTS, "--out", "o", folder=tmp_path)
    monkeypatch.undo()
    unit = max(Checkpoints(tmp_path / "o" / "checkpoints").units())
    assert complaint_of(result) == (
        f"out = 'o' cannot be written: no space left on device; the checkpoint after {unit} generations is kept in "
        "'o/checkpoints', --resume goes on from it"
    )
    assert not [name for name in files(tmp_path) if name.endswith(".part")]
    assert trimtab(*ARGUMENTS, "--out", "o", "--resume", folder=tmp_path).code == 0
    assert same(tmp_path / "o", unbroken)


def test_a_limit_on_the_size_of_files_is_like_a_full_disk(unbroken: Path, tmp_path: Path) -> None:
    """What the system itself says, in a process of its own: checkpoints grow with the curve, the later do not fit."""
    first, last = (unbroken / f"checkpoints/{unit:08d}.safetensors" for unit in (0, BUDGET))
    size = (first.stat().st_size + last.stat().st_size) // 2
    done = run(tmp_path, f"tiny.limit({size})", *ARGUMENTS, "--out", "o")
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("trimtab: error: out = 'o' cannot be written: file too large; the")
    assert "Traceback" not in done.stderr
    assert 0 < max(Checkpoints(tmp_path / "o" / "checkpoints").units()) < BUDGET
    assert trimtab(*ARGUMENTS, "--out", "o", "--resume", folder=tmp_path).code == 0
    assert same(tmp_path / "o", unbroken)


def test_one_training_at_a_time_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    with locked(tmp_path / "o"):
        complaint = trimtab(*SHORT, "--out", "o", folder=tmp_path).complaint
    assert complaint == "out = 'o' is in use by another training, must be another folder"
    assert files(tmp_path) == ["o"]
