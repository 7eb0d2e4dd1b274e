"""The FaaSRank weights that come with Trimtab: they load, belong to their scenario, and say how they did."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import trimtab

from trimtab.learn.recipe import TRAINING_SEEDS
from trimtab.policies import registry, trained
from trimtab.policies.place.faasrank import SHAPES

FOLDERS = sorted((trained.SHIPPED / "place").glob("faasrank*"))


@pytest.mark.parametrize("folder", FOLDERS, ids=[each.name for each in FOLDERS])
def test_a_shipped_policy_loads_and_says_where_it_came_from(folder: Path) -> None:
    found = trained.load(folder)
    policy = registry.built(found, "place")
    assert policy.name == "faasrank"
    assert len(policy.weights) == SHAPES["actor"][0] + 4
    about = found.description
    assert about.recipe.startswith("best" if "best" in folder.name else "paper")
    assert about.training["command"].startswith("trimtab train faasrank-")
    assert max(about.evaluation["seeds"]) < TRAINING_SEEDS
    assert {"hashing", "greedy", "round-robin", "least-connections", "static-rank"} <= set(
        about.evaluation["baselines"]
    )


def test_the_policy_for_all_scenarios_was_judged_on_ten_workloads() -> None:
    about = trained.load(trained.SHIPPED / "place" / "faasrank").description
    assert list(about.evaluation["workloads"]) == [f"faasrank-m{number}" for number in range(1, 11)]
    changes = [row["baselines"]["hashing"]["change"] for row in about.evaluation["workloads"].values()]
    assert all(change < 0.0 for change in changes)


def test_a_comparison_runs_it_by_name_and_by_folder(tmp_path: Path) -> None:
    folder = str(trained.SHIPPED / "place" / "faasrank-best@faasrank-canada")
    policies = f"hashing,faasrank,{folder}"
    summary = trimtab(
        "compare", "faasrank-canada", "--policies", policies, "--seeds", "2", "--json", "-", folder=tmp_path
    ).json
    figures = summary["policies"]
    assert list(figures) == ["hashing", "faasrank", Path(folder).name]
    assert figures[Path(folder).name]["mean_fct_s"] < figures["hashing"]["mean_fct_s"]
