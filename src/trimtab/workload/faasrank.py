"""FaaSRank's way: Azure traces drawn at random, minutes read as seconds, each mapped to a function."""

from __future__ import annotations

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import FaaSRankSpec
from trimtab.workload.assemble import assemble
from trimtab.workload.azure_like import draw_population
from trimtab.workload.random_streams import stream
from trimtab.workload.spread import MOST_REQUESTS
from trimtab.workload.table import Floats, Workload


def build_faasrank(scenario: Scenario, spec: FaaSRankSpec, seed: int) -> Workload:
    """Exactly ``calls`` calls within ``duration``, by second and function as the traces say."""
    if not scenario.functions:
        raise TrimtabError("functions = [], must have at least one for this workload")
    if spec.calls > MOST_REQUESTS or spec.duration < 1:
        raise TrimtabError(
            f"workload.calls = {spec.calls}, duration = {spec.duration}, must be at most {MOST_REQUESTS:,} "
            "calls and at least 1 s"
        )
    random = stream(seed, "arrivals")
    weight = _shares(spec, len(scenario.functions))[:, None] * _shapes(spec, len(scenario.functions), random)
    seconds = weight.shape[1]
    # the last second may be a part of one
    weight *= np.minimum(1.0, spec.duration - np.arange(seconds))
    cells = random.multinomial(spec.calls, (weight / weight.sum()).ravel()).reshape(weight.shape)
    function, second = np.nonzero(cells)
    count = cells[function, second]
    arrival = np.repeat(second.astype(float), count) + random.random(spec.calls) * np.repeat(
        np.minimum(1.0, spec.duration - second), count
    )
    order = np.argsort(arrival, kind="stable")
    return assemble(
        scenario, arrival[order], np.repeat(function, count)[order].astype(np.int32), spec.duration, seed,
        notes=(f"minutes of {spec.path or 'Azure-like traces'} read as seconds, calls uniform in a second",),
    )  # fmt: skip


def _shares(spec: FaaSRankSpec, count: int) -> Floats:
    """Share of the calls of each function: a lognormal with the given coefficient of variation.

    Rates of real functions differ by orders of magnitude, yet the paper's CPU time per call is nearly the
    same in all its workloads: its ten functions were called about equally often.
    """
    sigma = np.sqrt(np.log1p(spec.rate_deviation**2))
    weight = np.exp(sigma * stream(spec.draw, "rates", 2).standard_normal(count))
    return np.asarray(weight / weight.sum())


def _shapes(spec: FaaSRankSpec, count: int, random: np.random.Generator) -> Floats:
    """Calls of each function over the seconds, with mean 1."""
    seconds = int(np.ceil(spec.duration))
    if spec.path is not None:
        from trimtab.workload.azure_2019 import draw_shapes

        return draw_shapes(spec.path, count, seconds, spec.draw)
    dispersion = draw_population(count, spec.draw).dispersion
    mean = spec.calls / count / spec.duration
    # multinomial counts add the Poisson part of the variance, so gamma gives the rest: shape mean/(D-1)
    shape = np.maximum(mean / (dispersion - 1.0), 1e-3)[:, None]
    intensity = random.gamma(shape, 1.0, (count, seconds)) / shape
    return np.asarray(intensity + 1e-9)  # never a second without any chance, or a sum of zero
