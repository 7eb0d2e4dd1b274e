"""The page as text: charts by decision, words, escaping, size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from tests import outcomes

from trimtab.report.figure import Runs, log_axis
from trimtab.report.figures import all_figures
from trimtab.report.figures.inflight import share_lower
from trimtab.report.page import report
from trimtab.report.palette import INK, styles
from trimtab.report.sampling import coarse, quantile_by_window, thin, windows
from trimtab.report.summary import summarise
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome


def scenario(**changes: Any) -> Scenario:
    content = {
        "name": "cluster", "hosts": [{"name": "invoker", "count": 10, "cores": 4, "memory": "2 GiB"}],
        "workload": {"source": "poisson", "rate": 5, "duration": 60}, "notes": ["work is <exponential>"],
    }  # fmt: skip
    return Scenario.model_validate(content | changes)


def figures(runs: Sequence[Outcome], decision: str, baseline: str, deadline: float | None = None) -> list[str]:
    return [figure.name for figure in all_figures(Runs(summarise("s", decision, baseline, runs), runs, deadline))]


def test_charts_of_a_placement() -> None:
    assert figures(outcomes.comparison((1,)), "place", "hashing") == [
        "distribution", "boxes", "inflight", "utilisation", "cost_usd", "energy_kwh", "instance_seconds",
        "cold",
    ]  # fmt: skip


def test_charts_of_streams() -> None:
    runs = [outcomes.route(policy) for policy in ("closest", "aset")]
    names = figures(runs, "route", "closest")
    assert names[:5] == [
        "application-pool", "application-face", "application-traffic", "application-factory", "success",
    ]  # fmt: skip
    assert names[-1] == "bands"


def test_charts_of_scaling() -> None:
    names = figures([outcomes.scale("hpa"), outcomes.scale("kpa")], "scale", "hpa", 0.5)
    assert {"instances", "latency", "success"} <= set(names)


class Outline(HTMLParser):
    """Collects what could fetch something, and the nesting of tags."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href") and value != "#result"]


def test_page_is_whole_escaped_and_fetches_nothing() -> None:
    runs = outcomes.comparison((1, 2))
    summary = summarise("cluster", "place", "hashing", runs)
    page = report(scenario(), summary, runs, "trimtab compare <script>alert(1)</script>")
    outline = Outline()
    outline.feed(page)
    assert outline.fetched == []
    assert outline.tags.count("h1") == 1
    assert outline.tags.count("figure") == 8
    assert "trimtab compare &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "work is &lt;exponential&gt;" in page
    assert len(page) < 8_000_000
    assert page == report(scenario(), summary, runs, "trimtab compare <script>alert(1)</script>")
    assert not re.search(r"wall_s|decision_us", page.split("<script>")[0])


def test_hostile_names_stay_text() -> None:
    runs = [outcomes.place("</script><b>", 1), outcomes.place("hashing", 1)]
    page = report(scenario(), summarise("cluster", "place", "hashing", runs), runs, "c")
    assert "</script><b>" not in page
    assert "&lt;/script&gt;&lt;b&gt;" in page


def test_a_run_without_any_answer_still_has_a_page() -> None:
    runs = [outcomes.outcome([float("nan")] * 3)]
    page = report(scenario(), summarise("cluster", "place", "hashing", runs), runs, "c")
    assert "No request was answered" in page


def test_many_policies_show_the_best_three_and_the_baseline() -> None:
    looks = styles(outcomes.PLACE, "greedy")
    assert [name for name, style in looks.items() if style.shown] == [
        "hashing", "round-robin", "least-connections", "greedy",
    ]  # fmt: skip
    assert looks["greedy"].colour == INK
    assert len({(style.colour, style.dash) for style in looks.values()}) == len(outcomes.PLACE)
    assert all(style.shown for style in styles(outcomes.PLACE[:5], "hashing").values())


def test_share_of_time_with_fewer_in_flight() -> None:
    # 0-1: 1 against 1; 1-4: 1 against 2, then the end
    ours = outcomes.outcome(series={"time": np.array([0.0, 4.0]), "inflight": np.array([1.0, 0.0])})
    theirs = outcomes.outcome(series={"time": np.array([0.0, 1.0, 4.0]), "inflight": np.array([1.0, 2.0, 0.0])})
    assert share_lower(ours, theirs) == pytest.approx(0.75)
    assert share_lower(theirs, ours) == 0.0


def test_thinning_keeps_means_or_last_values() -> None:
    time = np.arange(4.0)
    assert [part.tolist() for part in thin(time, np.array([0.0, 2, 4, 8]), 2)] == [[0.5, 2.5], [1.0, 6.0]]
    assert [part.tolist() for part in thin(time, np.array([0.0, 2, 4, 8]), 2, "last")] == [
        [1.0, 3.0],
        [2.0, 8.0],
    ]
    assert coarse(np.array([[0, 1, 2, 3]], np.float32), 2).tolist() == [[0.5, 2.5]]


def test_windows_and_quantiles() -> None:
    time, window = windows(np.array([0.0, 1.0, 9.0, 10.0]), 2)
    assert (time.tolist(), window.tolist()) == ([2.5, 7.5], [0, 0, 1, 1])
    values = quantile_by_window(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), 2, 0.5, fewest=2)
    assert values[0] == 2.0
    assert np.isnan(values[1])


def test_ticks_of_a_logarithmic_axis() -> None:
    assert {"0.1", "0.2", "0.5", "1"} <= set(log_axis("t", [0.1, 2.0, None])["ticktext"])
    assert log_axis("t", [])["type"] == "log"
