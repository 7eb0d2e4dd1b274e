"""The fingerprint of a scenario."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.worlds import scenario

from trimtab.scenario.digest import digest
from trimtab.scenario.load import load_scenario
from trimtab.scenario.workload import RequestsSpec


def test_it_is_the_same_for_the_same_world() -> None:
    assert digest(load_scenario("faasrank-m2")) == digest(load_scenario("faasrank-m2"))
    assert len(digest(scenario())) == 64


def test_any_setting_changes_it() -> None:
    world = scenario()
    changed = [
        scenario(hosts=[{"cores": 2.0}]),
        scenario([{"work": 0.2}]),
        scenario(name="other"),
        scenario(workload={"source": "poisson", "rate": 1.5, "duration": 1.0}),
    ]
    assert len({digest(each) for each in [world, *changed]}) == 5


def test_words_do_not() -> None:
    assert digest(scenario(description="for a reader", notes=["assumed"])) == digest(scenario())


def test_tasks_without_gateways_are_what_they_were_before_there_were_any(monkeypatch: pytest.MonkeyPatch) -> None:
    # the hash is in the folders of policies that were trained then
    written: list[Any] = []
    dumps = json.dumps
    monkeypatch.setattr(json, "dumps", lambda content, **how: written.append(content) or dumps(content, **how))
    tasks = {"source": "tasks", "duration": 100.0}
    assert digest(scenario(workload=tasks)) != digest(scenario(workload=tasks | {"sources": {"north": 1.0}}))
    assert ["sources" in content["workload"] for content in written] == [False, True]


def test_where_a_trace_lies_does_not() -> None:
    def on(path: str) -> str:
        return digest(scenario().model_copy(update={"workload": RequestsSpec(source="requests", path=path)}))

    assert on("/data/march.csv") == on("traces/march.csv")
    assert on("/data/march.csv") != on("/data/april.csv")
