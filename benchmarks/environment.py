"""Decisions a second of the batched environments, beside a loop over single ones in the same run, one core."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from trimtab.learn.environments.place import BatchedPlace, PlaceEnvironment
from trimtab.learn.environments.route import BatchedRoute, RouteEnvironment

_COUNTS = (1, 16, 64)
_REPEATS = 5
_SECONDS = 0.5
"""Of CPU, each repeat."""
_SEEDS = range(1_000_000, 1_000_064)
_STREAMS = {"changes": ["workload.duration=120 s", "workload.warm_up=0"]}


def environment() -> dict[str, dict[str, dict[str, float]]]:
    """Decisions a second by number of environments; random actions, new episodes included."""
    return {
        "place": _compare(PlaceEnvironment, BatchedPlace, {"scenario": "faasrank-canada"}),
        "route": _compare(RouteEnvironment, BatchedRoute, {"scenario": "aset-full-edge"} | _STREAMS),
    }


def _compare(single: Any, batched: Any, options: dict[str, Any]) -> dict[str, dict[str, float]]:
    found = {}
    for count in _COUNTS:
        ours = _batched(batched(count=count, seeds=_SEEDS, **options))
        peer = _loop([single(seeds=_SEEDS[index::count], **options) for index in range(count)])
        # one after the other in each repeat, so that both see the same machine
        pairs = [(_rate(ours, count), _rate(peer, count)) for _ in range(_REPEATS + 1)][1:]
        batch, loop = (statistics.median(rates) for rates in zip(*pairs))
        found[str(count)] = {
            "batched_per_s": round(batch),
            "python_loop_per_s": round(loop),
            "batched_over_loop": round(batch / loop, 2),
        }
    return found


def _rate(step: Callable[[], None], count: int) -> float:
    began, steps = time.process_time(), 0
    while time.process_time() - began < _SECONDS:
        step()
        steps += 1
    return steps * count / (time.process_time() - began)


def _batched(batch: Any) -> Callable[[], None]:
    random = np.random.default_rng(1)
    batch.reset()

    def step() -> None:
        batch.step(random.integers(batch.decision.actions, size=batch.count))

    return step


def _loop(singles: list[Any]) -> Callable[[], None]:
    random = np.random.default_rng(1)
    for single in singles:
        single.reset()

    def step() -> None:
        actions = random.integers(singles[0].decision.actions, size=len(singles))
        for single, action in zip(singles, actions):
            _, _, terminated, truncated, _ = single.step(action)
            if terminated or truncated:
                single.reset()

    return step
