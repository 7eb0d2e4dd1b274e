"""The report as a real browser draws it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests import outcomes
from tests.browser.chromium import CHROMIUM, NEEDED, QUIET

from trimtab.report.frontier import frontier
from trimtab.report.frontier_page import write_frontier
from trimtab.report.page import write_report
from trimtab.report.summary import summarise
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome

FLAGS = (*QUIET, "--window-size=1280,2000", "--virtual-time-budget=20000", "--enable-logging=stderr")
SCRIPTS = re.compile(r"<script\b.*?</script>", re.DOTALL)

pytestmark = NEEDED


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[Path], tuple[str, str]]:
    """Opens a page; gives the document after its scripts ran, and what the browser said."""

    def dump(page: Path) -> tuple[str, str]:
        command = [
            str(CHROMIUM),
            *FLAGS,
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            page.as_uri(),
        ]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return result.stdout, result.stderr

    return dump


def write(folder: Path, decision: str, baseline: str, runs: Sequence[Outcome], **more: Any) -> Path:
    content: dict[str, Any] = {
        "name": "cluster", "decision": decision,
        "hosts": [{"name": "invoker", "cores": 4, "memory": "2 GiB"}],
        "workload": {"source": "poisson", "rate": 5, "duration": 60},
    }  # fmt: skip
    scenario = Scenario.model_validate(content | more)
    summary = summarise("cluster", decision, baseline, runs)
    return write_report(folder / "report.html", scenario, summary, runs, "trimtab compare cluster")


def check(dom: str, log: str, figures: int) -> None:
    """All charts were drawn, without an error, and nothing outside the page was asked for."""
    assert f'data-drawn="{figures}"' in dom
    text = SCRIPTS.sub("", dom)
    charts = re.findall(r'<figure id="figure-[^"]*".*?</figure>', text, re.DOTALL)
    assert len(charts) == figures
    for chart in charts:
        assert chart.count('class="main-svg"') >= 2, chart[:200]
        assert re.search(r'class="(trace|bars|boxes|hm|heatmaplayer|scatter)', chart), chart[:200]
    assert not re.search(r'(src|href)="https?:', text)
    assert "CONSOLE" not in log or not re.search(r"Uncaught|Error|Refused|violates", log), log


def test_placement_with_thirteen_policies(tmp_path: Path, opened: Any) -> None:
    dom, log = opened(write(tmp_path, "place", "hashing", outcomes.comparison()))
    check(dom, log, 8)
    assert "<title>cluster: 13 place policies compared – Trimtab</title>" in dom
    legend = re.search(r'id="figure-inflight".*?</figure>', dom, re.DOTALL)
    assert legend is not None
    assert legend[0].count('aria-pressed="true"') == 4
    assert legend[0].count('aria-pressed="false"') == 9


def test_streams(tmp_path: Path, opened: Any) -> None:
    runs = [outcomes.route(policy, seed) for policy in ("closest", "aset") for seed in (1, 2)]
    dom, log = opened(write(tmp_path, "route", "closest", runs))
    check(dom, log, 9)


def test_scaling(tmp_path: Path, opened: Any) -> None:
    runs = [outcomes.scale("hpa", 1), outcomes.scale("kpa", 1, 30)]
    dom, log = opened(write(tmp_path, "scale", "hpa", runs, functions=[{"name": "fibonacci", "deadline": "500 ms"}]))
    check(dom, log, 8)
    assert "objective 0.50 s" in SCRIPTS.sub("", dom)


def test_frontier(tmp_path: Path, opened: Any) -> None:
    result = frontier({"hpa": [(1, 0.1, 1.0, 3.0), (2, 0.001, 2.0, 3.0), (3, 0.0, 2.5, 3.0)]}, scenario="s")
    dom, log = opened(write_frontier(tmp_path / "frontier.html", result))
    check(dom, log, 1)
