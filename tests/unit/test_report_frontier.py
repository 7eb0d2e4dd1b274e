"""Cost at equal violations, by hand."""

from __future__ import annotations

import json
import math

import pytest

from trimtab.report.frontier import at, envelope, frontier, frontier_table, order
from trimtab.report.frontier_page import frontier_headline, frontier_page

POINTS = [(1, 0.1, 1.0, 10.0), (2, 0.001, 2.0, 20.0), (3, 0.01, 5.0, 30.0), (4, 0.1, 1.5, 40.0)]


def test_envelope_leaves_out_beaten_points() -> None:
    # 3 has more violations than 2 and costs more; 4 as many as 1 and costs more
    assert [point.knob for point in envelope(POINTS)] == [1, 2]


def test_interpolation_is_linear_in_the_logarithm() -> None:
    point = at(envelope(POINTS), 0.01)  # half-way between 0.001 and 0.1
    assert point is not None
    assert point[:4] == pytest.approx((1.5, 0.01, 1.5, 15.0))
    assert math.isnan(point.core_cost)


def test_targets_outside_the_points() -> None:
    front = envelope(POINTS)
    assert at(front, 0.0001) is None
    loose = at(front, 0.5)
    assert loose is not None
    assert loose.cost == 1.0
    assert at([], 0.01) is None


def test_next_to_no_violation_the_safe_cost_is_taken() -> None:
    point = at(envelope([(1, 0.0, 3.0, 0.0), (2, 0.1, 1.0, 0.0)]), 0.01)
    assert point is not None
    assert point.cost == 3.0


def test_json_has_the_documented_shape() -> None:
    result = frontier({"hpa": POINTS, "never": [(1, 0.2, 1.0, math.nan)]}, scenario="s", seeds=[1])
    assert list(result) == ["scenario", "seeds", "policies"]
    assert result["policies"]["hpa"]["cost"]["0.01"] == 1.5
    assert set(result["policies"]["hpa"]["cost"]) == {"0.001", "0.005", "0.01", "0.05"}
    assert result["policies"]["hpa"]["changes_per_hour"]["0.01"] == 15.0
    assert result["policies"]["hpa"]["knob"]["0.01"] == 1.5
    assert result["policies"]["never"]["cost"] == {}
    assert json.dumps(result, allow_nan=False)


def test_costs_in_cores_have_a_front_of_their_own() -> None:
    # by instances the first setting is the cheaper one at 1 %, by cores the second
    points = [(1, 0.01, 1.0, 10.0, 3.0), (2, 0.01, 2.0, 20.0, 2.5)]
    entry = frontier({"residual": points})["policies"]["residual"]
    assert entry["cost"]["0.01"] == 1.0
    assert entry["core_cost"]["0.01"] == 2.5
    assert entry["points"][0]["core_cost"] == 3.0
    assert "core_cost" not in frontier({"hpa": POINTS})["policies"]["hpa"]


def test_table_page_and_words() -> None:
    points = {
        "kpa": [(k, v, 2 * c, h) for k, v, c, h in POINTS],
        "hpa": POINTS,
        "never": [(1, 0.2, 1.0, 1.0)],
    }
    result = frontier(points, scenario="autoscale")
    assert order(result["policies"]) == ["hpa", "kpa", "never"]
    assert frontier_table(result).row_count == 3
    assert frontier_headline(result) == (
        "hpa keeps violations at 1 % for the least capacity: 1.50 times the offered load. "
        "The next, kpa, needs 100.0 % more."
    )
    page = frontier_page(result, "trimtab frontier <autoscale>")
    assert "trimtab frontier &lt;autoscale&gt;" in page
    assert page == frontier_page(result, "trimtab frontier <autoscale>")
