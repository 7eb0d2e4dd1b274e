"""Every preset runs, and its figures make sense."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests.commands import trimtab

from trimtab.scenario.load import load_scenario, preset_names

ALWAYS = {"requests", "completed", "rejected", "failed", "late", "success_rate", "mean_fct_s", "p50_fct_s",
          "p95_fct_s", "p99_fct_s", "throughput_rps", "jain_fairness", "mean_inflight"}  # fmt: skip
SHARES = {
    "success_rate",
    "cold_start_rate",
    "sla_violation_rate",
    "cpu_utilisation",
    "cpu_utilisation_active",
}
OTHER = {"place": "least-connections", "route": "closest", "scale": "square-root", "assign": "first-fit"}


def check(figures: dict[str, Any]) -> None:
    assert set(figures) >= ALWAYS
    assert figures["requests"] == figures["completed"] + figures["failed"] + figures["rejected"] > 0
    assert 0 <= figures["late"] <= figures["completed"]
    assert figures["p50_fct_s"] <= figures["p95_fct_s"] <= figures["p99_fct_s"]
    for name, value in figures.items():
        if name != "vs_baseline":
            assert math.isfinite(value), name
            assert value >= 0, name
    for name in SHARES & figures.keys():
        assert figures[name] <= 1 + 1e-9, name
    # Little's law, over the time from the start to the last answer
    if "cold_start_rate" in figures and not figures["rejected"] and not figures["failed"]:
        load = figures["mean_fct_s"] * figures["completed"] / figures["makespan_s"]
        assert figures["mean_inflight"] == pytest.approx(load, rel=1e-6)


@pytest.mark.parametrize("name", preset_names())
def test_preset(name: str, tmp_path: Path) -> None:
    scenario = load_scenario(name)
    assert scenario.baseline is not None
    policies = f"{scenario.baseline},{OTHER[scenario.decision]}"
    summary = trimtab("compare", name, "--seeds", "1", "--policies", policies, "--json", "-", folder=tmp_path).json
    assert list(tmp_path.iterdir()) == []
    assert summary["scenario"] == name
    assert summary["decision"] == scenario.decision
    assert summary["baseline"] == scenario.baseline
    assert summary["seeds"] == [1]
    assert list(summary["policies"]) == policies.split(",")
    for figures in summary["policies"].values():
        check(figures)
    assert {entry["decision_us"] >= 0 for entry in summary["timings"].values()} == {True}
    # the same arrivals for both
    assert len({figures["requests"] for figures in summary["policies"].values()}) == 1
    assert summary["policies"][scenario.baseline]["vs_baseline"]["mean_fct_s"]["change"] == 0.0


@pytest.mark.parametrize("model", ["P", "A", "G"])
def test_models_of_an_invoker(model: str, tmp_path: Path) -> None:
    result = trimtab(
        "compare", "faasrank-canada", "--seeds", "1", "--policies", "hashing,greedy", "--json", "-",
        "--set", f"model={model}", folder=tmp_path,
    )  # fmt: skip
    for figures in result.json["policies"].values():
        check(figures)
        assert figures["requests"] == 292
