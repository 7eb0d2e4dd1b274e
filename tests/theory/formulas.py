"""Queueing theory: what the engine must agree with, and how agreement is judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

REPLICATIONS = 10


def erlang_b(servers: int, load: float) -> float:
    """Probability that a call is lost, by the recursion B(n) = a B(n-1) / (n + a B(n-1))."""
    blocked = 1.0
    for count in range(1, servers + 1):
        blocked = load * blocked / (count + load * blocked)
    return blocked


def erlang_c(servers: int, load: float) -> float:
    """Probability that a call waits: B / (1 - rho (1 - B))."""
    lost = erlang_b(servers, load)
    return lost / (1.0 - load / servers * (1.0 - lost))


def batch_sojourn(rate: float, size: int, seconds: Callable[[int], float], states: int = 400) -> float:
    """Mean time in M/D^(1,B)/1: an idle server takes what waits, up to ``size``, for ``seconds(batch)``.

    The queue that a finished batch leaves behind is a Markov chain. From n > 0 the next batch has
    min(n, size) requests, from 0 it waits 1/rate for one; Poisson arrivals join during the service. In a
    service of length D with q waiting at its start the queue integrates to q D + rate D² / 2.
    """
    chain = np.zeros((states, states))
    areas, times = np.zeros(states), np.zeros(states)
    for left in range(states):
        batch = max(min(left, size), 1)
        waiting = max(left - size, 0)
        length = seconds(batch)
        joining = stats.poisson.pmf(np.arange(states - waiting), rate * length)
        chain[left, waiting:] = joining
        chain[left, -1] += 1.0 - joining.sum()
        areas[left] = (waiting + batch) * length + rate * length**2 / 2.0
        times[left] = length + (1.0 / rate if left == 0 else 0.0)
    balance = np.vstack([chain.T - np.eye(states), np.ones(states)])
    share = np.linalg.lstsq(balance, np.append(np.zeros(states), 1.0), rcond=None)[0]
    return float(share @ areas / (share @ times) / rate)


def assert_agrees(sample: Callable[[int], float], theory: float, first_seed: int = 1) -> None:
    """Independent runs: their mean within 1 % of theory, and their 95 % interval contains it."""
    values = np.array([sample(first_seed + number) for number in range(REPLICATIONS)])
    mean = float(values.mean())
    half = stats.t.ppf(0.975, REPLICATIONS - 1) * float(values.std(ddof=1)) / math.sqrt(REPLICATIONS)
    told = f"simulated {mean:.6f} ± {half:.6f}, theory {theory:.6f}"
    assert abs(mean / theory - 1.0) < 0.01, told
    assert abs(mean - theory) <= half, told


def exponential(mean: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Draws of an exponential with this mean."""
    return lambda random, count: random.exponential(mean, count)


def lognormal(mean: float, deviation: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Draws of a lognormal with this mean and coefficient of variation."""
    spread = math.log(1.0 + deviation**2)
    return lambda random, count: random.lognormal(math.log(mean) - spread / 2.0, math.sqrt(spread), count)


def constant(mean: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Always the mean."""
    return lambda random, count: np.full(count, mean)


def uniform(mean: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Between 0 and twice the mean."""
    return lambda random, count: random.uniform(0.0, 2.0 * mean, count)


def after_warm_up(values: np.ndarray, share: float = 0.05) -> Sequence[float]:
    """Without the first requests, which found an empty system."""
    return values[int(share * len(values)) :]
