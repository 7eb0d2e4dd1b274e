"""The page of a reproduction as a real browser draws it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.browser.test_report_page import SCRIPTS, check, opened, pytestmark
from tests.reproductions import reproduction

from trimtab.papers.page import write_page

__all__ = ["opened", "pytestmark"]


def test_figures_are_drawn_and_every_claim_is_there(tmp_path: Path, opened: Any) -> None:
    result = reproduction()
    dom, log = opened(write_page(tmp_path / "reproduction.html", result, "trimtab reproduce faasrank"))
    check(dom, log, 2)
    text = SCRIPTS.sub("", dom)
    for finding in result.findings:
        assert f'id="claim-{finding.id}"' in text
    assert text.count('class="verdict ') == 3
    assert "Table V: it is &lt;b&gt;faster&lt;/b&gt;" in text
