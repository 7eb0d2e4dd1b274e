"""``trimtab train`` with something wrong: one clear line, exit code 2, nothing half-written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.commands import files, trimtab
from tests.tiny import SHORT, TRAIN

from trimtab.learn.recipe import RECIPES

pytestmark = pytest.mark.usefixtures("tiny_policy")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["train"], "Missing argument 'SCENARIO'"),
        (["train", "faasrank-m2"], "Missing option '--policy'"),
        ([*TRAIN[:2], "--policy", "tinny"], "place policy that can be trained = 'tinny', must be one of: "),
        ([*TRAIN[:2], "--policy", "hashing"], "place policy that can be trained = 'hashing', must be one of: "),
        ([*TRAIN[:2], "--policy", "route/tiny"], "policy = 'route/tiny', this scenario has the decisions: place"),
        (["train", "aset-full-edge", "--policy", "tiny"], "policy = 'tiny' is a place policy, the decision here is ro"),
        ([*TRAIN, "--recipe", "worst"], "--recipe = 'worst', 'tiny' has: best, "),
        ([*TRAIN, "--budget", "0"], "--budget = '0', must be a whole number from 1 to 10,000,000"),
        ([*TRAIN, "--budget", "-3"], "--budget = '-3', must be a whole number"),
        ([*TRAIN, "--budget", "many"], "--budget = 'many', must be a whole number"),
        ([*TRAIN, "--budget", "1e3"], "--budget = '1e3', must be a whole number"),
        ([*TRAIN, "--seed", "x"], "--seed = 'x', must be a whole number from 0 to 999,999"),
        ([*TRAIN, "--seed", "1000000"], "--seed = '1000000', must be a whole number from 0 to 999,999"),
        ([*TRAIN, "--evaluation-seeds", "0"], "--evaluation-seeds = '0', must be a number from 1 to 10,000 or a list"),
        ([*TRAIN, "--evaluation-seeds", "1000000,"], "--evaluation-seeds: 1000000, must be below 1,000,000: training"),
        ([*TRAIN, "--checkpoint-every", "often"], "--checkpoint-every = 'often', must be a whole number from 0 to 86"),
        ([*TRAIN, "--resume"], "--resume: 'runs/faasrank-m2/tiny' holds no checkpoint to go on from"),
        ([*TRAIN, "--resume", "--force"], "--force starts anew, --resume goes on: must be one of them"),
        ([*TRAIN, "--set", "workload.cals=3"], "faasrank-m2: workload.cals: unknown key"),
        ([*TRAIN, "--workload", "none.csv"], "none.csv"),
        ([*TRAIN, "--all"], "--all goes with --workload"),
        ([*TRAIN, "--out", "file"], "out = 'file', must be a folder that can be written: "),
        ([*TRAIN, "--out", "file/below"], "out = 'file/below', must be a folder that can be written: "),
        ([*TRAIN, "--out", "/proc/nowhere"], "out = '/proc/nowhere', must be a folder that can be written: "),
        ([*TRAIN, "--out", "x" * 300], "out = 'xxx"),
    ],
)  # fmt: skip
def test_bad_input(arguments: list[str], line: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    complaint = trimtab(*arguments, folder=tmp_path).complaint
    assert complaint.startswith(line), complaint
    assert files(tmp_path) == ["file"]


def test_unknown_policies_and_recipes_come_with_a_hint(tmp_path: Path) -> None:
    for arguments, hint in ((["--policy", "tinny"], "'tiny'"), (["--policy", "tiny", "--recipe", "bets"], "'best'")):
        complaint = trimtab("train", "faasrank-m2", *arguments, folder=tmp_path).complaint
        assert complaint.endswith(f"did you mean {hint}?")


@pytest.mark.parametrize("library", ["torch", "tensorboard"])
def test_without_the_extra(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_torch.py").write_text("import torch\nrecipe = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, library, None)
    for name in [name for name in sys.modules if name.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    if library == "torch":
        monkeypatch.setitem(RECIPES, ("place", "tiny", "best"), "needs_torch:recipe")
    complaint = trimtab(*SHORT, "--out", "o", folder=tmp_path).complaint
    assert complaint == f"{library} is not installed, training needs it: pip install 'trimtab[train]'"
    assert not (tmp_path / "o").exists()


def test_paths_of_this_machine_stay_here(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("arrival,function,work\n" + "".join(f"{i},web,0.2\n" for i in range(20)))
    (tmp_path / "mine.yaml").write_text("base: faasrank-m2\nname: mine\n")
    arguments = ["train", f"{tmp_path}/mine.yaml", "--policy", "tiny", "--budget", "2", "--evaluation-seeds", "2"]
    result = trimtab(*arguments, "--workload", f"{tmp_path}/trace.csv", "--out", f"{tmp_path}/o", folder=tmp_path)
    assert result.code == 0, result.err
    text = (tmp_path / "o" / "policy.json").read_text()
    assert str(tmp_path) not in text
    assert json.loads(text)["training"]["command"] == (
        "trimtab train mine.yaml --policy tiny --recipe best --budget 2 --seed 1 --evaluation-seeds 2 "
        "--workload trace.csv"
    )
