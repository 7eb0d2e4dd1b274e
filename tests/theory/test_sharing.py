"""The shared CPU against a slow fluid model of it: every completion, to nine digits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.theory import fluid
from tests.worlds import MIB, outcome, scenario, workload

CLASSES = (
    {"memory": 128 * MIB, "parallelism": 1.0},
    {"memory": 512 * MIB, "parallelism": 2.5},
    {"memory": 64 * MIB, "parallelism": 0.5},
    {"memory": 320 * MIB, "parallelism": None},
)


@pytest.mark.parametrize("weights", ["memory", "equal"])
@pytest.mark.parametrize(("cores", "speed"), [(1.0, 1.0), (4.0, 1.0), (3.0, 1.7)])
def test_weights_and_caps(weights: str, cores: float, speed: float) -> None:
    random = np.random.default_rng(7)
    count = 1500
    arrival = np.cumsum(random.exponential(1.0 / (0.85 * cores * speed), count))
    kind, work = random.integers(0, len(CLASSES), count), random.exponential(1.0, count)
    world = scenario(
        CLASSES,
        [{"cores": cores, "speed": speed, "memory": 1e15}],
        platform={"weights": weights, "keep_alive": {"seconds": 1e9}},
    )
    done = outcome(world, workload(arrival, work, kind, ("f0", "f1", "f2", "f3")))
    jobs = []
    for when, need, index in zip(arrival, work, kind, strict=True):
        row = CLASSES[index]
        cap = min(cores, cores if row["parallelism"] is None else row["parallelism"])
        jobs.append(fluid.Job(when, need, row["memory"] if weights == "memory" else 1.0, cap))
    fluid.run(jobs, cores, speed)
    expected = np.array([job.completion for job in jobs])
    np.testing.assert_allclose(done.completion, expected, rtol=1e-9, atol=1e-9)


def test_filling_by_hand() -> None:
    # 4 cores; weights 1, 1, 2; caps 0.5, 10, 10: the first is capped at 0.5, the rest share 3.5 as 1 : 2
    jobs = [fluid.Job(0, 1, 1, 0.5), fluid.Job(0, 1, 1, 10), fluid.Job(0, 1, 2, 10)]
    assert fluid.fair_rates(jobs, 4.0) == pytest.approx([0.5, 3.5 / 3, 7.0 / 3], rel=1e-15)


def test_one_instance_limits_all_that_run_in_it() -> None:
    # an instance of 1.5 cores on a host of 4: two requests of work 3 get 0.75 each, so both end at 4;
    # alone, a third is capped by its parallelism 1: from 10 to 13
    world = scenario([{"cpu": 1.5, "concurrency": 2, "instances": 1}], [{"cores": 4.0}])
    done = outcome(world, workload([0.0, 0.0, 10.0], 3.0))
    assert done.completion.tolist() == pytest.approx([4.0, 4.0, 13.0], rel=1e-12)
