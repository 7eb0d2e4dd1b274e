"""The dashboard before a run of streams on emulated workers: sites, variants, bands, and nothing to switch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.browser.chromium import NEEDED, chromium

pytest.importorskip("PIL")

from trimtab.live.edge.serving import served
from trimtab.live.edge.session import play
from trimtab.live.edge.status import Status
from trimtab.scenario.load import load_scenario

pytestmark = NEEDED

LIVE = "document.getElementById('status').dataset.state === 'live'"


def text(element: str) -> str:
    return f"document.getElementById('{element}').innerText"


def test_a_run_of_streams_on_the_dashboard(tmp_path: Path) -> None:
    seen: dict[str, str] = {}

    @contextmanager
    def watched(status: Status) -> Iterator[None]:
        with served(status, "127.0.0.1", 0) as address, chromium(tmp_path) as browser:
            yield
            tab = browser.tab()
            tab.open(address.url)
            tab.until(LIVE)
            tab.until(f"{text('bands-legend')} !== ''")
            for element in ("servers", "functions", "bands-legend", "decisions"):
                seen[element] = str(tab.evaluate(text(element)))
            seen["choices"] = str(tab.evaluate("document.querySelectorAll('#policies form').length"))

    scenario = load_scenario("edge-faces", ["workload.rate=300", "control.window=1 s"])
    found = play(scenario, "select/round-robin", 4.0, True, 1, shown=watched)
    assert all(site in seen["servers"] for site in ("antenna", "office", "cloud"))
    assert "face-small" in seen["functions"] and "route" in seen["decisions"]
    assert any(name in seen["bands-legend"] for _, name in found.outcome.bands)
    assert seen["choices"] == "0", "it is only to be looked at"
