"""``profile: FILE``: figures that were measured, in the scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.commands import trimtab

from trimtab.errors import TrimtabError
from trimtab.scenario.load import load_scenario

SCENARIO = """
name: measured
profile: {profile}
hosts: [{{name: server, cores: 1, memory: 1 GiB}}]
functions:
  - {{name: sized, work: 50 ms, init: 9 s, code: {{path: alu, size: size}}}}
  - {{name: fixed, work: 7 s, code: {{path: hotel}}}}
  - {{name: other, work: 10 ms, init: 3 s}}
workload: {{source: poisson, rate: 5, duration: 10 s}}
"""
ALU = {"create": 0.01, "init": 0.05, "init_off_cpu": 0.002, "off_cpu": 0.003, "curve": [[10, 0.001], [100, 0.01]],
       "memory": 1e7}  # fmt: skip
HOTEL = ALU | {"curve": [[0, 0.02]]}


def write(folder: Path, functions: dict[str, Any]) -> Path:
    (folder / "profile.json").write_text(json.dumps({"machine": {"cpu": "x"}, "functions": functions}))
    (folder / "measured.yaml").write_text(SCENARIO.format(profile=folder / "profile.json"))
    return folder / "measured.yaml"


def test_figures_are_filled_in(tmp_path: Path) -> None:
    path = write(tmp_path, {"alu": ALU, "hotel": HOTEL})
    sized, fixed, other = load_scenario(str(path), ["functions.sized.create=2 s"]).functions
    assert (sized.create, sized.init, sized.init_off_cpu, sized.off_cpu) == (2.0, 0.05, 0.002, 0.003)
    assert sized.work == 0.05, "how much work there is, is the scenario's to say"
    assert sized.code is not None
    assert sized.code.curve == ((10, 0.001), (100, 0.01))
    assert (fixed.work, fixed.distribution) == (0.02, "constant")
    assert (other.init, other.code) == (3.0, None)


def test_another_profile_by_set(tmp_path: Path) -> None:
    path = write(tmp_path, {})
    assert load_scenario(str(path)).functions[0].init == 9.0
    (tmp_path / "other.json").write_text(json.dumps({"functions": {"alu": ALU}}))
    assert load_scenario(str(path), [f"profile={tmp_path / 'other.json'}"]).functions[0].init == 0.05


@pytest.mark.parametrize(
    ("functions", "words"),
    [
        ({"alu": ALU | {"init": -1}}, "functions.alu.init = -1, must be 0.0 or more"),
        ({"alu": ALU | {"curve": []}}, "functions.alu.curve"),
        ({"alu": ALU | {"curve": [[10, 0.2], [20, 0.1]]}}, "sizes and core-seconds must rise"),
        ({"alu": {"init": 1}}, "functions.alu.create"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, functions: dict[str, Any], words: str) -> None:
    path = write(tmp_path, functions)
    with pytest.raises(TrimtabError) as caught:
        load_scenario(str(path))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_profile_that_is_not_there(tmp_path: Path) -> None:
    complaint = trimtab("validate", "starter", "--set", "profile=nowhere.json", folder=tmp_path).complaint
    assert "profile = 'nowhere.json': cannot be read: No such file or directory" in complaint
