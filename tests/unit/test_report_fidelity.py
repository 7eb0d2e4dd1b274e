"""Live against simulated: errors, noise and rankings worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from tests.outcomes import outcome

from trimtab.report.fidelity import differences, errors, fidelity, fidelity_table
from trimtab.report.fidelity_page import fidelity_page
from trimtab.sim.outcome import Outcome

COUNT = 100


def run(policy: str, mean: float, seed: int = 1, noise: float = 0.01, cold: float = 0.0) -> Outcome:
    times = mean + noise * np.random.default_rng([seed, sum(policy.encode())]).standard_normal(COUNT)
    flags = np.arange(COUNT) < cold * COUNT
    return outcome(times, policy, seed, cold=flags, meters={"cold_starts": 1.0, "cpu_utilisation": mean / 4})


def test_errors() -> None:
    live = {"mean_fct_s": 1.0, "p95_fct_s": 2.0, "cold_start_rate": 0.20, "cpu_utilisation": 0.5}
    said = {"mean_fct_s": 1.1, "p95_fct_s": 1.5, "cold_start_rate": 0.22, "cpu_utilisation": 0.4}
    # 1.1 / 1 - 1, 1.5 / 2 - 1, 0.22 - 0.20, 0.4 - 0.5; no p50 on either side
    assert errors(live, said) == pytest.approx(
        {"mean_fct_s": 0.1, "p95_fct_s": -0.25, "cold_start_rate": 0.02, "cpu_utilisation": -0.1}
    )
    assert "mean_fct_s" not in errors({"mean_fct_s": 0.0}, said), "no share of nothing"


def test_differences_are_means_of_batches() -> None:
    # one request a second, 0 to 99: batches of 20; b is slower by 1 in the first half, by 3 in the second
    slower = np.where(np.arange(COUNT) < 50, 1.0, 3.0)
    one, other = outcome(np.full(COUNT, 5.0), "a"), outcome(5.0 + slower, "b")
    # the third batch holds 39.6 s to 59.4 s: requests 40 to 59, ten of each kind
    assert differences("mean_fct_s", [one], [other]).tolist() == [-1.0, -1.0, -2.0, -3.0, -3.0]


def test_requests_that_one_policy_did_not_answer_are_left_out() -> None:
    times = np.full(COUNT, 5.0)
    times[:15] = np.nan
    one, other = outcome(times, "a"), outcome(np.full(COUNT, 4.0), "b")
    assert differences("mean_fct_s", [one], [other]).tolist() == [1.0] * 4, "5 of 20 are too few for a batch"


def test_bars_and_rankings_that_hold() -> None:
    live = [run(policy, mean, seed, cold=0.1) for policy, mean in (("a", 1.0), ("b", 2.0)) for seed in (1, 2)]
    said = [run(policy, mean, seed, cold=0.12) for policy, mean in (("a", 1.1), ("b", 1.9)) for seed in (1, 2)]
    result = fidelity("world", "place", live, said)
    assert result["kept"]
    assert result["seeds"] == [1, 2]
    assert result["bars"]["mean_fct_s"]["worst"] == pytest.approx(0.1, abs=0.01)
    assert result["bars"]["mean_fct_s"]["policy"] == "a"
    assert result["bars"]["cold_start_rate"]["worst"] == pytest.approx(0.02)
    ranks = result["ranking"]
    assert (ranks["pairs"], ranks["beyond_noise"], ranks["agree"]) == (1, 1, 1)
    assert ranks["live"] == ranks["simulated"] == ["a", "b"]


def test_a_wrong_ranking_shows_where_the_difference_is_real() -> None:
    live = [run("a", 1.0), run("b", 1.1)]
    said = [run("a", 1.1), run("b", 1.0)]
    result = fidelity("world", "place", live, said)
    assert not result["kept"]
    assert [entry["pair"] for entry in result["ranking"]["disagree"]] == [["a", "b"]]
    assert result["bars"]["mean_fct_s"]["kept"], "both means are within 15 %"


def test_a_difference_within_noise_asks_nothing_of_the_simulator() -> None:
    live = [run("a", 1.0, noise=0.5), run("b", 1.001, noise=0.5)]
    said = [run("a", 1.01, noise=0.0), run("b", 1.0, noise=0.0)]
    ranks = fidelity("world", "place", live, said)["ranking"]
    assert (ranks["beyond_noise"], ranks["disagree"]) == (0, [])


def test_policies_that_are_equally_successful_are_ranked_by_time() -> None:
    live, said = ([run("a", 1.0), run("b", slow)] for slow in (1.2, 1.1))
    ranks = fidelity("world", "route", live, said)["ranking"]
    assert (ranks["figure"], ranks["beyond_noise"], ranks["agree"]) == ("mean_fct_s", 1, 1)


def test_a_missed_bar_is_named() -> None:
    live, said = [run("a", 1.0)], [run("a", 1.3)]
    result = fidelity("world", "place", live, said)
    assert not result["kept"]
    console = Console(width=200)
    with console.capture() as capture:
        console.print(fidelity_table(result))
    assert "mean FCT NOT within 15 %: worst +30" in " ".join(capture.get().split())


def test_page_holds_both_sides() -> None:
    live, said = [run("a", 1.0)], [run("a", 1.1)]
    page = fidelity_page(fidelity("world", "place", live, said), live, said, "trimtab fidelity world", ["a note"])
    assert "world: is the simulator right?" in page
    assert '"name":"live"' in page
    assert '"name":"simulated"' in page
    assert "a note" in page


def test_policies_that_are_one_in_simulation_are_no_pair_to_be_ranked() -> None:
    # live, b was slower than a by more than noise; in simulation it fell back to a, request by request
    live = [run(policy, mean, seed) for policy, mean in (("a", 1.0), ("b", 1.1), ("c", 2.0)) for seed in (1, 2)]
    said = [run("a", 1.0, seed) for seed in (1, 2)]
    said += [replace(each, policy="b") for each in said] + [run("c", 2.0, seed) for seed in (1, 2)]
    result = fidelity("world", "place", live, said)
    ranks = result["ranking"]
    assert ranks["same_in_simulation"] == [["a", "b"]]
    assert (ranks["pairs"], ranks["beyond_noise"], ranks["agree"], ranks["disagree"]) == (2, 2, 2, [])
    assert result["kept"]
    told = "Not counted, because they did the very same in simulation: a and b."
    assert told in fidelity_page(result, live, said, "trimtab fidelity world")


def test_a_tie_of_means_is_not_the_same_decisions() -> None:
    # the same times, but b has sent every request to another host
    live, said = [run("a", 1.0), run("b", 1.1)], [run("a", 1.0)]
    said.append(replace(said[0], policy="b", host=said[0].host + 1))
    ranks = fidelity("world", "place", live, said)["ranking"]
    assert (ranks["same_in_simulation"], ranks["pairs"], len(ranks["disagree"])) == ([], 1, 1)


def test_busy_core_seconds_are_compared() -> None:
    live, said = ({"busy_core_seconds": seconds} for seconds in (2.0, 2.5))
    assert errors(live, said) == {"busy_core_seconds": pytest.approx(0.25)}  # 2.5 / 2 - 1
