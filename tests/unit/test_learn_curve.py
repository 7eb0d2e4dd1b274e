"""The learning curve: exact, and the same after a checkpoint."""

from __future__ import annotations

import math

from trimtab.learn.curve import Curve
from trimtab.learn.recipe import Progress


def example() -> Curve:
    curve = Curve()
    curve.add(Progress(-0.1, 10))
    curve.add(Progress(1 / 3, 20, {"loss": 0.25}))
    curve.add(Progress(2.0, 5, {"loss": 1e-300, "rate, of learning": 3}))
    return curve


def test_text() -> None:
    assert example().text().splitlines() == [
        'unit,reward,steps,loss,"rate, of learning"',
        "1,-0.1,10,,",
        "2,0.3333333333333333,20,0.25,",
        "3,2.0,5,1e-300,3.0",
    ]


def test_nothing_yet() -> None:
    assert Curve().text() == "unit,reward,steps\n"
    assert len(Curve.restored(*Curve().state())) == 0


def test_a_curve_goes_on_where_it_was() -> None:
    whole, cut = example(), Curve.restored(*example().state())
    assert len(cut) == 3
    for curve in (whole, cut):
        curve.add(Progress(4.0, 1, {"late": 1.5}))
    assert cut.text() == whole.text()
    assert cut.reward == whole.reward
    assert sum(cut.steps) == 36


def test_numpy_numbers_are_written_as_plain_ones() -> None:
    import numpy as np

    curve = Curve()
    curve.add(Progress(np.float64(0.5), np.int64(3), {"loss": np.float32(0.25)}))  # type: ignore[arg-type]
    assert curve.text() == "unit,reward,steps,loss\n1,0.5,3,0.25\n"
    assert math.isclose(curve.reward[0], 0.5)


def test_a_short_curve_has_the_means_of_equal_stretches() -> None:
    curve = Curve()
    for unit in range(250):
        curve.add(Progress(float(unit), 1, {"loss": 2.0 * unit} | ({"late": 1.0} if unit >= 100 else {})))
    short = curve.short()
    assert short["unit"][-1] == 250
    assert len(short["unit"]) == len(short["reward"]) == len(short["loss"]) == 100
    assert "late" not in short  # the first units do not have it
    assert short["unit"][:2] == [2, 5]
    assert short["reward"][:2] == [0.5, 3.0]
    assert short["loss"][1] == 6.0
    assert Curve().short() == {"unit": [], "reward": []}
