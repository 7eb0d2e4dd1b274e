"""Same scenario and seed, same bytes: twice, and on one core or two."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import trimtab

CASES = {
    "place": ("faasrank-m2", "hashing,random,drain-ahead", ("--trace",)),
    "scale": ("autoscale-fibonacci", "hpa,kpa,vpa", ("--set", "workload.duration=200")),
    "route": ("aset-full-edge", "random-proportional-load,scarcity",
              ("--set", "workload.duration=60", "--set", "workload.warm_up=10")),
    "assign": ("assign-batch", "random,best-fit", ("--set", "workload.duration=1200")),
    "joint": ("joint-edge", "least-connections,random", ()),
    "faults": ("peers-a", "random,power-of-two",
               ("--set", "faults=[{kind: host-down, rate: 0.01}]", "--set", "workload.requests=5000")),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_same_bytes(case: str, tmp_path: Path) -> None:
    scenario, policies, more = CASES[case]
    contents = []
    for out, jobs in (("first", "1"), ("second", "1"), ("third", "2")):
        result = trimtab(
            "compare", scenario, "--policies", policies, "--seeds", "2", *more, "--out", out, "--jobs", jobs,
            folder=tmp_path,
        )  # fmt: skip
        assert result.code == 0, result.err
        contents.append(
            {path.name: path.read_bytes() for path in (tmp_path / out).iterdir() if path.name != "timings.json"}
        )
    assert {"summary.json", "requests.parquet", "series.parquet", "report.html"} <= contents[0].keys()
    for name, content in contents[0].items():
        assert content == contents[1][name], f"{name} differs from run to run"
        assert content == contents[2][name], f"{name} differs with the number of jobs"


def test_the_number_of_policies_and_seeds_changes_nothing(tmp_path: Path) -> None:
    """A run depends on its own policy and seed, not on the others of the command."""
    arguments = ["compare", "faasrank-m2", "--json", "-"]
    alone = trimtab(*arguments, "--policies", "random", "--seeds", "2,", folder=tmp_path).json
    both = trimtab(*arguments, "--policies", "hashing,random", "--seeds", "3,2", folder=tmp_path).json
    three = trimtab(*arguments, "--policies", "random", "--seeds", "3,", folder=tmp_path).json
    mean = (alone["policies"]["random"]["mean_fct_s"] + three["policies"]["random"]["mean_fct_s"]) / 2
    assert both["policies"]["random"]["mean_fct_s"] == pytest.approx(mean, rel=1e-9)
