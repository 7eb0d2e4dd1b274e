"""``trimtab frontier``: cost at equal violations, as JSON, table and page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.commands import files, trimtab

SHORT = ("frontier", "autoscale-fibonacci", "--seeds", "1", "--set", "workload.duration=900")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frontier")
    result = trimtab(*SHORT, "--policies", "square-root,fixed", "--out", "o", "--json", "f.json", folder=folder)
    assert result.code == 0, result.err
    (folder / "stdout").write_text(result.out)
    return folder


@pytest.fixture(scope="module")
def result(run: Path) -> Any:
    return json.loads((run / "f.json").read_text())


def test_files(run: Path) -> None:
    assert files(run) == ["f.json", "o", "o/frontier.html", "o/frontier.json", "stdout"]
    assert (run / "f.json").read_bytes() == (run / "o/frontier.json").read_bytes()
    page = (run / "o/frontier.html").read_text()
    assert "square-root" in page
    assert "trimtab frontier autoscale-fibonacci" in page
    assert "f.json" not in page


def test_shape(result: Any) -> None:
    for entry in result["policies"].values():
        assert set(entry) >= {"cost", "changes_per_hour", "points"}
        assert entry["changes_per_hour"].keys() == entry["cost"].keys()
    assert len(result["policies"]["square-root"]["points"]) == 14


def test_fewer_violations_cost_more(result: Any) -> None:
    for entry in result["policies"].values():
        costs = list(entry["cost"].values())
        assert costs == sorted(costs, reverse=True)
        assert costs[-1] > 1.0, "below the offered load nothing can be met"
    # the count follows the load, a constant must be enough for the peak
    assert result["policies"]["square-root"]["cost"]["0.05"] < result["policies"]["fixed"]["cost"]["0.05"]


def test_table(run: Path) -> None:
    shown = (run / "stdout").read_text()
    assert "square-root" in shown
    assert shown.rstrip().endswith("o/frontier.html")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["frontier", "peers-a"], "scenario 'peers-a': decision = 'place', must be 'scale' for a frontier"),
        (
            [*SHORT, "--policies", "hashing"],
            "policy = 'hashing' is a place policy, the decision here is scale",
        ),
        (
            [*SHORT, "--policies", "fixed", "--set", "functions.*.deadline=null"],
            "functions: none has a deadline",
        ),
    ],
)
def test_mistakes(arguments: list[str], line: str, tmp_path: Path) -> None:
    assert trimtab(*arguments, folder=tmp_path).complaint.startswith(line)
    assert files(tmp_path) == []
