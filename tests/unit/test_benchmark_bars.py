"""Figures of benchmarks and their bars."""

from __future__ import annotations

from typing import Any

from benchmarks.assign import BARS as ASSIGN_BARS
from benchmarks.assign import Timed, interval
from benchmarks.bars import Bar, judged, lines
from benchmarks.live import BARS as LIVE_BARS
from pytest import MonkeyPatch

from trimtab.control.assigning import AssignLoop
from trimtab.scenario.load import load_scenario


def test_bars_from_above_and_below() -> None:
    found = judged({"ms": 3.0, "per_s": 499.0}, {"ms": Bar(3.0), "per_s": Bar(500.0, at_least=True)})
    assert found == {
        "ms": {"figure": 3.0, "bar": 3.0, "at_least": False, "met": True},
        "per_s": {"figure": 499.0, "bar": 500.0, "at_least": True, "met": False},
    }
    assert lines(found) == ["ms: 3, at most 3: met", "per_s: 499, at least 500: NOT met"]


def test_every_bar_that_was_promised_is_judged() -> None:
    assert {name: bar.limit for name, bar in ASSIGN_BARS.items()} == {
        "engine_100": 2.0, "gobi_100": 30.0, "gosh_100": 150.0,
    }  # fmt: skip
    limits = {name: bar.limit for name, bar in LIVE_BARS.items()}
    assert limits["overhead_p50_ms"] == 3.0
    assert limits["warm_per_s"] == 500.0
    assert limits["cold_over_bare"] == 1.5
    assert [name for name, limit in limits.items() if limit == 50.0] == [
        f"decision_{policy}_{servers}_us" for servers in (2, 4) for policy in ("least_connections", "rank", "faasrank")
    ]
    assert [name for name, limit in limits.items() if limit == 2.0] == [
        "recovery_instance_s", "recovery_server_s", "recovery_gateway_s",
    ]  # fmt: skip


def test_making_the_tables_is_the_engines_time(monkeypatch: MonkeyPatch) -> None:
    """A clock that only tables and plans move: a table takes a second, a plan three."""
    clock = [0.0]

    class Clock:
        @staticmethod
        def perf_counter() -> float:
            return clock[0]

    view = AssignLoop.view

    def slow(self: AssignLoop) -> Any:
        clock[0] += 1.0
        return view(self)

    def plan(self: Timed, *tables: Any) -> Any:
        began = Clock.perf_counter()
        clock[0] += 3.0
        self.seconds += Clock.perf_counter() - began
        self.plans += 1
        return tables[2]

    monkeypatch.setattr("benchmarks.assign.time", Clock)
    monkeypatch.setattr(AssignLoop, "view", slow)
    monkeypatch.setattr(Timed, "plan", plan)
    scenario = load_scenario("metanet-azure16", ["workload.duration=100"])
    rest, mine = interval(scenario, "cheap-fit")
    assert mine == 3.0
    assert rest > 0.5, "a table an interval"
