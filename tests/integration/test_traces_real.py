"""The real traces, where they are: figures that are known about them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from trimtab.scenario.load import load_scenario
from trimtab.workload.build import build_workload
from trimtab.workload.describe import describe
from trimtab.workload.replace import replace_workload, with_trace
from trimtab.workload.trace_scenario import trace_scenario

FOLDER = Path(os.environ.get("TRIMTAB_TRACES", ""))


def need(name: str) -> str:
    """The path of a real trace, or a reason to skip."""
    if not os.environ.get("TRIMTAB_TRACES"):
        pytest.skip("TRIMTAB_TRACES is not set: it names the folder with the real traces")
    if not (FOLDER / name).exists():
        pytest.skip(f"{FOLDER / name} is not there")
    return name


def test_azure_2019_sample() -> None:
    workload = build_workload(trace_scenario(need("azure2019")), 1)
    figures = describe(workload)
    assert figures["requests"] == 819_690
    assert figures["functions"] == 259
    assert figures["duration_s"] == 480 * 60
    assert figures["busy_cores"] == pytest.approx(16.4, abs=0.3)
    assert figures["share_of_functions_under_1_per_minute"] == pytest.approx(0.82, abs=0.005)
    assert figures["busiest_function_share"] == pytest.approx(1 / 3, abs=0.01)
    assert figures["dispersion_by_trigger"]["timer"]["median"] == pytest.approx(0.86, abs=0.01)


def test_azure_2019_in_a_cluster() -> None:
    scenario = with_trace(load_scenario("faasrank-canada"), need("azure2019"))
    assert len(scenario.functions) == 259
    assert all(128 * 2**20 <= function.memory <= scenario.hosts[0].memory for function in scenario.functions)
    one, two = build_workload(scenario, 1), build_workload(scenario, 2)
    assert len(one) == len(two)
    assert not np.array_equal(one.arrival, two.arrival)


def test_faasrank_from_the_azure_sample() -> None:
    scenario = load_scenario("faasrank-m1", [f"workload.path={need('azure2019')}"])
    assert len(build_workload(scenario, 1)) == 209


def test_world_cup_in_windows() -> None:
    path = need("web/worldcup98_per_minute.csv")
    scenario, workload = replace_workload(load_scenario("autoscale-fibonacci"), path, 1)
    assert [function.name for function in scenario.functions] == ["fibonacci"]
    assert 3_000_000 < len(workload) <= 5_100_000
    assert workload.duration % 7200 == 0
    assert "10 missing minutes taken as no load" in workload.notes


def test_azure_llm() -> None:
    workload = build_workload(trace_scenario(need("azure_llm_2023")), 1)
    assert len(workload) == 8_819
    assert workload.work.min() > 0
