"""One run for each decision, kept in a file in every detail: a change of any number must be meant."""

from __future__ import annotations

import json

import pytest
from tests.golden.traces import FOLDER, RUNS, trace


@pytest.mark.parametrize("decision", RUNS)
def test_nothing_has_changed(decision: str) -> None:
    kept = json.loads((FOLDER / f"{decision}.json").read_text(encoding="utf-8"))
    now = trace(RUNS[decision]())
    assert now.keys() == kept.keys()
    assert now["meters"] == pytest.approx(kept["meters"], rel=1e-8)
    for name in ("host", "worker", "cold", "late", "status"):
        assert now[name] == kept[name], name
    for name in ("start", "completion"):
        assert [value is None for value in now[name]] == [value is None for value in kept[name]], name
        assert [value for value in now[name] if value is not None] == pytest.approx(
            [value for value in kept[name] if value is not None], rel=0, abs=2e-9
        ), name
