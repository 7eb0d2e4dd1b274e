"""A shared CPU worked out again from its definition, slowly and without any of the engine's shortcuts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Job:
    """A request on the host."""

    arrival: float
    work: float
    weight: float
    cap: float
    completion: float = math.nan


def fair_rates(jobs: Sequence[Job], capacity: float) -> list[float]:
    """Weighted max-min fairness by filling: raise everybody's level until a cap or the capacity is met."""
    rates = [0.0] * len(jobs)
    open_jobs = set(range(len(jobs)))
    left = capacity
    while open_jobs:
        weight = sum(jobs[index].weight for index in open_jobs)
        capped = [index for index in open_jobs if jobs[index].cap <= left * jobs[index].weight / weight]
        if not capped:
            for index in open_jobs:
                rates[index] = left * jobs[index].weight / weight
            break
        tightest = min(capped, key=lambda index: jobs[index].cap / jobs[index].weight)
        rates[tightest] = jobs[tightest].cap
        left -= jobs[tightest].cap
        open_jobs.remove(tightest)
    return rates


def run(jobs: Sequence[Job], cores: float, speed: float) -> None:
    """Fill in every job's completion; work left is counted down from event to event."""
    waiting = sorted(jobs, key=lambda job: job.arrival)
    running: list[Job] = []
    left: dict[int, float] = {}
    now = 0.0
    while waiting or running:
        rates = [rate * speed for rate in fair_rates(running, cores)]
        ends = [left[id(job)] / rate for job, rate in zip(running, rates, strict=True)]
        soonest = min(ends, default=math.inf)
        if waiting and waiting[0].arrival - now <= soonest:
            elapsed, first = waiting[0].arrival - now, None
        else:
            elapsed, first = soonest, running[ends.index(soonest)]
        for job, rate in zip(running, rates, strict=True):
            left[id(job)] -= rate * elapsed
        if first is None:
            job = waiting.pop(0)
            now = job.arrival
            running.append(job)
            left[id(job)] = job.work
        else:
            now += elapsed
            first.completion = now
            running.remove(first)
