"""The peers of the benchmark are right, and are the same system to the last bit."""

from __future__ import annotations

import itertools
import math

import pytest
from benchmarks.peers import heapq_peer, simpy_peer
from benchmarks.peers.work import CONTAINERS_PER_HOST, CORES, MEAN_SERVICE_S, WORKS, Inputs, Work, draw


def by_hand(work: Work, calls: list[tuple[float, int, float]], choices: list[float]) -> Inputs:
    """Inputs from (gap, function, service) triples."""
    gaps, functions, services = (list(column) for column in zip(*calls))
    return Inputs(work, gaps, list(itertools.accumulate(gaps)), functions, services, choices)


@pytest.mark.parametrize("name", WORKS)
def test_both_peers_agree_in_every_bit(name: str) -> None:
    inputs = draw(WORKS[name], calls=5_000, seed=7)
    assert heapq_peer.run(inputs) == simpy_peer.run(inputs)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_both_peers_agree_where_hosts_are_full(seed: int) -> None:
    # about 250 containers are busy or warm, and four hosts hold 4 × 64: the first draw is often full
    work = Work("full", functions=400, calls_per_function_s=0.0125, hosts=4, keep_alive_s=60.0)
    inputs = draw(work, calls=4_000, seed=seed)
    result = heapq_peer.run(inputs)
    assert result == simpy_peer.run(inputs)
    assert result.completed == 4_000


def test_a_cluster_without_room_is_an_error() -> None:
    work = Work("tiny", functions=CONTAINERS_PER_HOST + 1, calls_per_function_s=1, hosts=1, keep_alive_s=600)
    calls = [(0.0, function, 0.1) for function in range(work.functions)]
    for peer in (heapq_peer, simpy_peer):
        with pytest.raises(RuntimeError, match="no host has room"):
            peer.run(by_hand(work, calls, [0.0] * len(calls)))


def test_cold_starts_and_mean_response_of_work_b() -> None:
    # the published figures of this work: 34,575 cold starts, mean response 0.4717 s
    result = heapq_peer.run(draw(WORKS["b"]))
    assert result.cold_starts == pytest.approx(34_575, rel=0.01)
    assert result.mean_response_s == pytest.approx(0.4717, rel=0.01)
    assert result.completed == 100_000


def test_a_run_worked_out_by_hand() -> None:
    # one host, keep-alive 1 s
    #   call 0 at 0.0: cold, ready at 0.5, runs 0.3, done at 0.8           response 0.8
    #   call 1 at 1.0: warm (idle since 0.8), runs 0.2, done at 1.2        response 0.2
    #   call 2 at 1.1: the container is busy: cold, 1.6 to 1.7             response 0.6
    #   call 3 at 3.0: both containers went at 2.2 and 2.7: cold, to 3.6   response 0.6
    work = Work("hand", functions=1, calls_per_function_s=1.0, hosts=1, keep_alive_s=1.0)
    calls = [(0.0, 0, 0.3), (1.0, 0, 0.2), (0.1, 0, 0.1), (1.9, 0, 0.1)]
    for peer in (heapq_peer, simpy_peer):
        result = peer.run(by_hand(work, calls, [0.5] * 4))
        assert (result.cold_starts, result.completed) == (3, 4)
        assert result.mean_response_s == pytest.approx((0.8 + 0.2 + 0.6 + 0.6) / 4)


def test_calls_wait_for_a_core_in_order_of_arrival() -> None:
    # six cold calls at 0 on a host of 4 cores, 1 s each: four run from 0.5 to 1.5, two from 1.5 to 2.5
    work = Work("queue", functions=6, calls_per_function_s=1.0, hosts=1, keep_alive_s=1.0)
    calls = [(0.0, function, 1.0) for function in range(6)]
    for peer in (heapq_peer, simpy_peer):
        result = peer.run(by_hand(work, calls, [0.0] * 6))
        assert result.mean_response_s == pytest.approx((4 * 1.5 + 2 * 2.5) / 6)


def test_one_host_and_one_function_is_an_m_m_4_queue() -> None:
    # Erlang C; the few cold starts at the beginning do not matter in 200,000 calls
    rate, offered = 8.0, 8.0 * MEAN_SERVICE_S
    below = sum(offered**k / math.factorial(k) for k in range(CORES))
    full = offered**CORES / math.factorial(CORES) * CORES / (CORES - offered)
    expected = MEAN_SERVICE_S + full / (below + full) / (CORES / MEAN_SERVICE_S - rate)
    work = Work("m-m-4", functions=1, calls_per_function_s=rate, hosts=1, keep_alive_s=1e9)
    result = heapq_peer.run(draw(work, calls=200_000))
    assert result.mean_response_s == pytest.approx(expected, rel=0.01)


def test_the_same_seed_draws_the_same_inputs() -> None:
    assert draw(WORKS["a"], calls=100, seed=5) == draw(WORKS["a"], calls=100, seed=5)
    assert draw(WORKS["a"], calls=100, seed=5) != draw(WORKS["a"], calls=100, seed=6)
