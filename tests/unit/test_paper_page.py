"""Tables, page and terminal output of a reproduction, from findings made by hand."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from tests.reproductions import reproduction

from trimtab.papers.claim import NotTestable, Verdict
from trimtab.papers.console import measured_text, print_result
from trimtab.papers.learned import Learned, points, thinned
from trimtab.papers.page import page
from trimtab.papers.papertable import Cell, PaperTable


def test_every_claim_is_on_the_page_with_its_verdict() -> None:
    result = reproduction()
    text = page(result, "trimtab reproduce faasrank")
    body = re.sub(r"<script\b.*?</script>", "", text, flags=re.DOTALL)
    for finding in result.findings:
        row = re.search(rf'<tr id="claim-{finding.id}">.*?</tr>', body, re.DOTALL)
        assert row is not None
        assert str(finding.verdict) in row[0]
    assert "1 of 3 claims are reproduced, 1 are not, and 1 cannot be tested here." in body
    assert "is &lt;b&gt;faster&lt;/b&gt;" in body
    assert not re.search(r'(src|href)="https?:', body)
    assert "paper <b>70.00</b>" in body


def test_the_terminal_shows_ours_beside_the_papers() -> None:
    out = io.StringIO()
    print_result(Console(file=out, width=160), reproduction())
    text = out.getvalue()
    assert re.search(r"M1\s+100\.00 \| 100\.00\s+80\.00 \| 70\.00", text)
    assert re.search(r"not testable here\s+c is faster", text)
    assert "1 of 3 claims" in text


def test_headline_and_counts() -> None:
    result = reproduction()
    assert [result.count(verdict) for verdict in Verdict] == [1, 1, 1]
    assert set(result.as_json()) >= {"claims", "tables"}
    assert result.as_json()["tables"]["table-5"]["rows"]["M1"]["faasrank"] == {"ours": 80.0, "paper": 70.0}


def test_whole_numbers_are_shown_as_such() -> None:
    first = reproduction().findings[0]
    assert measured_text(first) == "12.3 [10.0, 14.0] %"
    assert measured_text(reproduction().findings[1]) == "5 [4, 8] functions"


def test_the_best_of_a_row_is_chosen_for_each_side() -> None:
    table = PaperTable("t", "", "", "row", ("a", "b"), {}, 2, "low")
    assert table.best_of((Cell(3.0, 1.0), Cell(2.0, 4.0))) == (2.0, 1.0)
    assert table.best_of((Cell(None, 1.0), Cell(2.0, None))) == (None, None)
    assert table.text(None, 0) == "–"
    assert PaperTable("t", "", "", "row", ("a", "b"), {}, (0, 3)).text(1.5, 1) == "1.500"


def test_curves_are_read_as_points_or_as_columns() -> None:
    assert points([{"unit": 1, "reward": 2.0}, "junk", {"reward": 1.0}]) == [{"unit": 1, "reward": 2.0}]
    assert points({"p95_s": [0.5, 0.4], "instances": [1.0, 2.0]}) == [
        {"unit": 1, "p95_s": 0.5, "instances": 1.0},
        {"unit": 2, "p95_s": 0.4, "instances": 2.0},
    ]
    assert points(None) == []


def test_long_curves_are_thinned_to_means() -> None:
    curve = [{"unit": unit, "reward": float(unit)} for unit in range(1, 401)]
    short = thinned(curve)
    assert len(short) == 200
    assert short[0] == {"unit": 2, "reward": 1.5}
    assert short[-1] == {"unit": 400, "reward": 399.5}


def test_a_policy_without_a_folder_is_not_trained() -> None:
    with pytest.raises(NotTestable, match="not trained"):
        Learned("place", "faasrank").column("reward")
    shipped = Learned("place", "faasrank", Path("x"), curve=({"unit": 1, "reward": 2.0},))
    assert shipped.column("reward") == [2.0]
    with pytest.raises(NotTestable, match="no figure 'p95_s'"):
        shipped.column("p95_s")
