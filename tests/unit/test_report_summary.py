"""The summary: fields, identities, and what is absent."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests import outcomes

from trimtab.report.summary import figures_of, rounded, summarise, timings, with_timings
from trimtab.sim.outcome import COMPLETED, FAILED, REJECTED

FIELDS = [
    "requests", "completed", "rejected", "failed", "late", "success_rate", "mean_fct_s",
    "p50_fct_s", "p95_fct_s", "p99_fct_s", "throughput_rps", "cold_start_rate", "cost_usd",
    "energy_kwh", "cpu_utilisation", "cpu_utilisation_active", "jain_fairness", "mean_inflight",
    "instance_seconds", "starts_stops",
]  # fmt: skip


def test_a_run_by_hand() -> None:
    # arrivals 0, 1, 2, 3; answers after 1, 2 and 3 s; the fourth fails
    figures = figures_of(outcomes.outcome([1.0, 2.0, 3.0, math.nan]))
    assert (figures["requests"], figures["completed"], figures["failed"], figures["rejected"]) == (4, 3, 1, 0)
    assert figures["mean_fct_s"] == 2.0
    assert figures["p50_fct_s"] == 2.0
    assert figures["p95_fct_s"] == pytest.approx(2.9)
    assert figures["success_rate"] == 0.75
    assert figures["throughput_rps"] == pytest.approx(3 / 5)  # from 0 to the last answer at 2 + 3
    assert "sla_violation_rate" not in figures
    assert "cold_start_rate" not in figures


def test_what_becomes_of_queries_adds_up() -> None:
    # in time; late; inaccurate; failed; rejected
    status = np.array([COMPLETED, COMPLETED, COMPLETED, FAILED, REJECTED], np.int8)
    run = outcomes.outcome(
        [0.1, 0.9, 0.1, math.nan, math.nan],
        status=status,
        late=np.array([False, True, False, False, False]),
        accurate=np.array([True, True, False, True, True]),
        has_streams=True,
    )
    figures = figures_of(run)
    assert figures["requests"] == figures["completed"] + figures["failed"] + figures["rejected"] == 5
    assert (figures["completed"], figures["late"], figures["failed"], figures["rejected"]) == (3, 1, 1, 1)
    assert figures["success_rate"] == 0.2
    assert figures["sla_violation_rate"] == 0.8
    table = summarise("s", "route", "hashing", [run])["applications"]
    shares = {"success": 0.2, "late": 0.2, "inaccurate": 0.2, "failed": 0.2, "rejected": 0.2}
    assert table == {"f": {"hashing": shares}}


def test_cold_share_is_of_accepted_requests() -> None:
    status = np.array([COMPLETED, COMPLETED, REJECTED], np.int8)
    run = outcomes.outcome([1, 1, math.nan], status=status, cold=np.array([True, False, False]))
    assert figures_of(run)["cold_start_rate"] == 0.5


def test_no_answer_at_all_leaves_times_out() -> None:
    figures = figures_of(outcomes.outcome([math.nan, math.nan]))
    assert "mean_fct_s" not in figures
    assert figures["success_rate"] == 0.0
    assert figures_of(outcomes.outcome([]))["requests"] == 0


def test_all_fields_of_a_comparison_are_there_in_order() -> None:
    summary = summarise("faasrank-canada", "place", "hashing", outcomes.comparison())
    assert list(summary)[:5] == ["scenario", "seeds", "baseline", "decision", "policies"]
    assert summary["seeds"] == [1, 2, 3]
    entry = summary["policies"]["greedy"]
    assert [name for name in entry if name in FIELDS] == FIELDS
    for name in FIELDS:
        assert {"change", "ci95"} == set(entry["vs_baseline"][name])
    own = summary["policies"]["hashing"]["vs_baseline"]["mean_fct_s"]
    assert own == {"change": 0.0, "ci95": [0.0, 0.0]}
    assert isinstance(entry["requests"], int)
    assert isinstance(entry["starts_stops"], int)


def test_counts_over_seeds_are_means_that_still_add_up() -> None:
    runs = [outcomes.outcome([1.0, math.nan], seed=1), outcomes.outcome([1.0, 1.0], seed=2)]
    entry = summarise("s", "place", "hashing", runs)["policies"]["hashing"]
    assert (entry["requests"], entry["completed"], entry["failed"]) == (2, 1.5, 0.5)
    assert entry["requests"] == entry["completed"] + entry["failed"] + entry["rejected"]


def test_change_and_interval_reach_the_summary() -> None:
    runs = [
        outcomes.outcome([mean], policy, seed)
        for seed, policy, mean in (
            (1, "hashing", 10),
            (2, "hashing", 20),
            (1, "greedy", 9),
            (2, "greedy", 19),
        )
    ]
    entry = summarise("s", "place", "hashing", runs)["policies"]["greedy"]["vs_baseline"]["mean_fct_s"]
    assert entry == {"change": pytest.approx(-1 / 15), "ci95": [pytest.approx(-1 / 15)] * 2}


def test_one_seed_has_no_interval_and_no_baseline_no_change() -> None:
    runs = [outcomes.outcome([1.0]), outcomes.outcome([2.0], "greedy")]
    entry = summarise("s", "place", "hashing", runs)["policies"]["greedy"]
    assert entry["vs_baseline"]["mean_fct_s"] == {"change": 1.0}
    assert "vs_baseline" not in summarise("s", "place", "random", runs)["policies"]["greedy"]


def test_functions_are_normalised_to_the_baseline() -> None:
    function = np.array([0, 1], np.int32)
    runs = [
        outcomes.outcome([2.0, 4.0], functions=("a", "b"), function=function),
        outcomes.outcome([1.0, 6.0], "greedy", functions=("a", "b"), function=function),
    ]
    table = summarise("s", "place", "hashing", runs)["functions"]
    assert table["a"]["policies"]["greedy"] == {"mean_fct_s": 1.0, "normalised": 0.5}
    assert table["b"]["policies"]["greedy"] == {"mean_fct_s": 6.0, "normalised": 1.5}
    assert table["a"]["requests"] == 1


def test_clairvoyants_are_marked_and_notes_kept() -> None:
    run = outcomes.outcome(notes=["3 decisions replaced: not a number"])
    summary = summarise("s", "place", None, [run], oracles=frozenset({"hashing"}))
    assert summary["policies"]["hashing"]["oracle"] is True
    assert summary["notes"] == ["hashing: 3 decisions replaced: not a number"]


def test_same_runs_same_bytes_whatever_the_clock_and_order_of_seeds() -> None:
    runs = outcomes.comparison()
    late = [outcomes.place(run.policy, run.seed, 1.0) for run in runs[:1]]
    assert late[0].wall_seconds == runs[0].wall_seconds
    text = json.dumps(summarise("s", "place", "hashing", runs))
    by_policy = sorted(runs, key=lambda run: (outcomes.PLACE.index(run.policy), -run.seed))
    assert json.dumps(summarise("s", "place", "hashing", by_policy)) == text
    assert "wall_s" not in text


def test_timings_are_over_all_seeds() -> None:
    # 2 runs of 3 requests: 6 decisions in 6 µs, 1 s of wall-clock time
    runs = [outcomes.outcome(seed=1), outcomes.outcome(seed=2)]
    expected = {"hashing": {"decision_us": 1.0, "wall_s": 1.0, "requests_per_s": 6.0}}
    assert timings(runs) == expected
    assert with_timings({"scenario": "s"}, runs) == {"scenario": "s", "timings": expected}
    assert "decision_us" not in timings([outcomes.outcome(decisions=0)])["hashing"]


def test_rounded_cuts_noise() -> None:
    assert rounded({"a": [0.1 + 0.2, 1], "b": "x", "c": True}) == {"a": [0.3, 1], "b": "x", "c": True}
