"""Policies that a user writes: a Python file, and an entry point of a package."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from tests.commands import trimtab

PLACE = """
    from trimtab import place

    @place("mine")
    def score(request, host):
        return -host.inflight
"""
PICK = """
    from trimtab import below, place

    @place("mine")
    def pick(request, hosts, random, memory):
        memory[0] += 1.0
        return below(random, len(hosts))
"""
RUNNING = """
    from trimtab import place

    @place("mine")
    def score(request, host, running):
        left = 0.0
        for other in running:
            left += other.expected
        return -left - (0.0 if host.warm > 0 else request.init)
"""
ROUTE = """
    from trimtab import route

    @route("mine")
    def score(stream, worker):
        return -worker.load
"""
SCALE = """
    from dataclasses import dataclass
    from typing import ClassVar

    from trimtab.policies.scale.contract import Desired, Knob

    @dataclass(frozen=True)
    class Mine:
        name: ClassVar[str] = "mine"
        knob: ClassVar[Knob] = Knob("spare", (6.0, 12.0, 40.0))
        spare: float = 4.0
        period: float = 5.0

        def decide(self, metrics, state, now):
            return Desired(instances=int(metrics.inflight + self.spare)), state
"""


def compared(folder: Path, text: str, *arguments: str) -> Any:
    (folder / "mine.py").write_text(dedent(text))
    return trimtab("compare", *arguments, "--seeds", "1", "--json", "-", folder=folder).json["policies"]


def test_a_score_is_the_same_as_the_built_in(tmp_path: Path) -> None:
    found = compared(tmp_path, PLACE, "faasrank-m2", "--policies", "least-connections,mine.py")
    assert list(found) == ["least-connections", "mine"]
    mine, built_in = ({**found[name], "vs_baseline": None} for name in ("mine", "least-connections"))
    assert mine == built_in


@pytest.mark.parametrize("text", [PICK, RUNNING])
def test_other_arguments(text: str, tmp_path: Path) -> None:
    found = compared(tmp_path, text, "faasrank-m2", "--policies", "mine.py")
    assert found["mine"]["completed"] == found["mine"]["requests"]


def test_a_route(tmp_path: Path) -> None:
    short = ["--set", "workload.duration=150", "--set", "workload.warm_up=30"]
    found = compared(tmp_path, ROUTE, "aset-full-edge", "--policies", "load-balancing,mine.py", *short)
    assert found["mine"]["success_rate"] == found["load-balancing"]["success_rate"]


def test_a_scale_class(tmp_path: Path) -> None:
    short = ["--set", "workload.duration=600"]
    found = compared(tmp_path, SCALE, "autoscale-fibonacci", "--policies", "mine.py", *short)
    assert found["mine"]["instance_seconds"] > 0
    swept = trimtab(
        "frontier", "autoscale-fibonacci", "--policies", "mine.py", "--seeds", "1", *short, "--json", "-",
        folder=tmp_path,
    ).json  # fmt: skip
    points = swept["policies"]["mine"]["points"]
    assert [point["knob"] for point in points] == [6.0, 12.0, 40.0]
    assert points[0]["cost"] < points[2]["cost"]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that is installed, as far as Python can tell, and brings policies."""
    (tmp_path / "plugin.py").write_text(dedent(PLACE))
    info = tmp_path / "plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[trimtab.policies]\nplace/plugged = plugin:score\nplace/broken = plugin:nothing\nplace/random = plugin:score\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "plugin", raising=False)
    return tmp_path


def test_an_entry_point_works_like_a_built_in(package: Path) -> None:
    arguments = ["compare", "faasrank-m2", "--seeds", "1", "--json", "-"]
    found = trimtab(*arguments, "--policies", "least-connections,plugged", folder=package).json["policies"]
    assert found["plugged"]["mean_fct_s"] == found["least-connections"]["mean_fct_s"]
    assert "from plugin:score" in trimtab("policies", "place", folder=package).out
    assert trimtab(*arguments, "--policies", "pluged", folder=package).complaint.endswith("did you mean 'plugged'?")
    assert trimtab(*arguments, "--policies", "broken", folder=package).complaint.startswith(
        "policy 'broken' of 'plugin:nothing' fails: AttributeError: "
    )
    assert trimtab(*arguments, "--policies", "random", folder=package).complaint.startswith(
        "policy = 'random' of 'plugin:score' is the name of a built-in one, must differ"
    )
