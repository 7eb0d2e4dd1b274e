"""What holds of every scale policy, whatever it sees."""

from __future__ import annotations

import copy
import math
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scale_builders import seen

from trimtab.policies.scale.contract import ScalePolicy
from trimtab.policies.scale.fixed import Fixed
from trimtab.policies.scale.holt import Holt
from trimtab.policies.scale.hpa import Hpa
from trimtab.policies.scale.hpa_inflight import HpaInflight
from trimtab.policies.scale.kpa import Kpa, KpaState
from trimtab.policies.scale.square_root import SquareRoot
from trimtab.policies.scale.threshold_cpu import ThresholdCpu
from trimtab.policies.scale.threshold_memory import ThresholdMemory
from trimtab.policies.scale.vpa import Vpa

CLASSES: tuple[Any, ...] = (
    Fixed,
    ThresholdCpu,
    ThresholdMemory,
    Hpa,
    HpaInflight,
    Kpa,
    Vpa,
    SquareRoot,
    Holt,
)
POLICIES: tuple[ScalePolicy, ...] = tuple(build() for build in CLASSES)
by_name = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)


@st.composite
def metrics_of(draw):
    inflight = draw(st.floats(0, 500))
    return seen(
        window=draw(st.sampled_from([0.0, 1.0, 2.0, 15.0])),
        arrivals=draw(st.integers(0, 5000)),
        inflight=inflight,
        inflight_now=int(inflight),
        queued=draw(st.integers(0, 400)),
        ready=draw(st.integers(0, 50)),
        starting=draw(st.integers(0, 20)),
        cpu_cores=draw(st.floats(0, 60)),
        memory_bytes=draw(st.floats(0, 4e10)),
        cpu_limit=draw(st.sampled_from([0.25, 1.0, 2.0])),
        concurrency=draw(st.sampled_from([1, 10])),
        service_mean=draw(st.one_of(st.none(), st.floats(0.001, 5))),
    )


RUN = st.lists(metrics_of(), min_size=1, max_size=12)


def equal(one: Any, other: Any) -> bool:
    """Deep equality that also looks into arrays."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if is_dataclass(one):
        return type(one) is type(other) and all(
            equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)
        )
    return bool(one == other)


@by_name
@given(run=RUN)
def test_answers_are_sane_and_pure(policy, run):
    state, now = None, 0.0
    for metrics in run:
        now += max(metrics.window, 1.0)
        before = copy.deepcopy(state)
        answer, after = policy.decide(metrics, state, now)
        again, after_again = policy.decide(metrics, state, now)
        assert answer == again
        assert equal(after, after_again)
        assert equal(state, before)
        if answer.instances is not None:
            assert isinstance(answer.instances, int)
            assert 0 <= answer.instances <= 1_000_000
        for size in (answer.cpu, answer.memory):
            assert size is None or (math.isfinite(size) and size > 0)
        state = after


@by_name
@given(metrics=metrics_of())
def test_no_figures_no_decision(policy, metrics):
    answer, _ = policy.decide(replace(metrics, window=0.0, ready=1), None, 1.0)
    assert answer.valid == (policy.name == "fixed")


@pytest.mark.parametrize("build", CLASSES, ids=lambda build: build.name)
def test_every_value_of_the_knob_is_allowed(build):
    assert 8 <= len(build.knob.values) <= 14
    assert list(build.knob.values) == sorted(build.knob.values)
    for value in build.knob.values:
        assert getattr(build(**{build.knob.name: value}), build.knob.name) == value


@given(metrics=metrics_of(), more=st.floats(0, 200))
def test_more_in_flight_never_wants_fewer(metrics, more):
    busier = replace(metrics, inflight=metrics.inflight + more, window=2.0)
    metrics = replace(metrics, window=2.0)
    for policy, state in ((HpaInflight(), None), (Kpa(), KpaState(active_since=0.0))):
        less, _ = policy.decide(metrics, state, 2.0)
        greater, _ = policy.decide(busier, state, 2.0)
        assert less.instances is not None
        assert greater.instances is not None
        assert less.instances <= greater.instances


@given(metrics=metrics_of(), arrivals=st.integers(0, 1000), queued=st.integers(0, 200))
def test_more_arrivals_never_want_fewer(metrics, arrivals, queued):
    metrics = replace(metrics, window=1.0, service_mean=0.2)
    busier = replace(metrics, arrivals=metrics.arrivals + arrivals, queued=metrics.queued + queued)
    for policy in (SquareRoot(), Holt()):
        less, _ = policy.decide(metrics, None, 1.0)
        greater, _ = policy.decide(busier, None, 1.0)
        assert less.instances is not None
        assert greater.instances is not None
        assert less.instances <= greater.instances


@given(ready=st.integers(1, 50), cores=st.floats(0, 60), more=st.floats(0, 20))
def test_more_cpu_never_wants_fewer(ready, cores, more):
    for policy in (Hpa(), ThresholdCpu()):
        less, _ = policy.decide(seen(ready=ready, cpu_cores=cores), None, 0.0)
        greater, _ = policy.decide(seen(ready=ready, cpu_cores=cores + more), None, 0.0)
        assert less.instances is not None
        assert greater.instances is not None
        assert less.instances <= greater.instances
