"""The papers' figures are as printed: sums and means that the papers state themselves, and single cells."""

from __future__ import annotations

import pytest

from trimtab.papers.faasrank import reported
from trimtab.scenario.load import load_scenario

FAASRANK = reported.POLICIES.index("faasrank")


def best(table: dict[str, tuple[float, ...]]) -> list[str]:
    return [name for name, row in table.items() if min(row) == row[FAASRANK]]


def test_table_5_gives_the_headline() -> None:
    means = [sum(column) / len(column) for column in zip(*reported.TABLE_5.values(), strict=True)]
    assert 100.0 - means[FAASRANK] == pytest.approx(23.05, abs=0.005)
    assert means == pytest.approx([100.0, 109.926, 79.535, 77.348, 76.158, 76.951])
    assert best(reported.TABLE_5) == ["M4", "M6", "M7", "M10"]
    assert all(row[FAASRANK] < 100.0 for row in reported.TABLE_5.values())


def test_table_4_gives_the_counts_of_the_text() -> None:
    canada, aws = reported.TABLE_4_CANADA, reported.TABLE_4_AWS
    assert len(best(canada)) == reported.BEST_FUNCTIONS["canada"] == 7
    assert len(best(aws)) == reported.BEST_FUNCTIONS["aws"] == 8
    assert sum(row[FAASRANK] < 100.0 for row in canada.values()) == reported.IMPROVED_FUNCTIONS["canada"]
    assert sum(row[FAASRANK] < 100.0 for row in aws.values()) == reported.IMPROVED_FUNCTIONS["aws"]
    assert canada["image-processing"][1] == 127.88
    assert aws["video-processing"] == (100.00, 104.51, 98.68, 92.48, 91.93, 93.91)
    assert set(canada) == set(aws) == set(reported.TABLE_2)


def test_table_3_agrees_with_itself_only_in_part() -> None:
    largest = reported.TABLE_3["M10"].cpu_s
    for load in reported.TABLE_3.values():
        assert 100.0 * load.cpu_s / largest == pytest.approx(load.load, abs=0.1)
    # 291 × 0.262 s = 76.2 s of arrivals in 60 s
    assert reported.TABLE_3["SC"].stretch == pytest.approx(1.271, abs=0.001)
    stretches = [load.stretch for load in reported.TABLE_3.values()]
    assert (min(stretches), max(stretches)) == pytest.approx((1.159, 1.271), abs=0.001)


def test_presets_have_the_papers_functions_and_workloads() -> None:
    functions = {function.name: function for function in load_scenario("faasrank-aws", []).functions}
    for name, profile in reported.TABLE_2.items():
        function = functions[name]
        assert function.memory == profile.memory_mb * 2**20
        assert function.create + function.init + profile.warm_s == pytest.approx(profile.cold_s)
        assert function.init == profile.init_s
    for load in reported.TABLE_3.values():
        workload = load_scenario(load.scenario, []).workload
        assert workload.calls == load.calls  # type: ignore[union-attr]
        assert workload.duration == load.length_s
