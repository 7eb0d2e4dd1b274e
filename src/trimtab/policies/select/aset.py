"""``aset``: ASET's deep Q-network chooses one of seven routing policies for every window."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.policies.parameters import guard_of
from trimtab.policies.select.contract import Expectation, Floats, Situation, State, WindowOutcome
from trimtab.policies.select.convolution import LEAST_STEPS, forward, shapes
from trimtab.policies.select.fitted import candidates_of, check_features, fallback_of, number_of
from trimtab.policies.trained import Trained

STEPS = 8
"""Windows that the network looks back: rows of its state."""

Array = npt.NDArray[Any]


class Aset:
    """Keeps the last windows as a tensor time × features, and takes the policy with the highest value.

    The network may carry a margin: another policy than the fallback is taken only where it is worth that much
    more. The paper has none, and its recipe sets it to zero.
    """

    name: ClassVar[str] = "aset"
    decision: ClassVar[str] = "select"

    def __init__(self, found: Trained, guard: bool = True) -> None:
        self.candidates, self.fallback = candidates_of(found), fallback_of(found)
        self.expectation = _expectation(found) if guard else None
        self._where, self._features = found.where, found.description.features
        self._steps = int(number_of(found, "steps", LEAST_STEPS))
        self._margin = number_of(found, "margin", 0.0)
        size = len(self._features)
        wanted = shapes(self._steps, size, len(self.candidates)) | {"mean": (size,), "scale": (size,)}
        found.expect(self._features, wanted)
        if not (found.arrays["scale"] > 0).all():
            raise TrimtabError(f"{found.where}: scale must be above 0 for every feature")
        self._weights = {name: array.astype(np.float32) for name, array in found.arrays.items()}

    def check(self, situation: Situation) -> None:
        """Refuse workers or ranges other than those it was trained for."""
        check_features(self._where, self._features, situation)

    def reset(self, situation: Situation, seed: int) -> None:
        """Nothing has been seen yet."""
        self.check(situation)
        self._rows: Array = np.zeros((self._steps, len(self._features)), np.float32)

    def choose(self, state: State, now: float) -> str:
        """The policy of highest value, where it is worth the margin more than the fallback."""
        self._rows = np.vstack([self._rows[1:], self._normal(state.features)[np.newaxis]])
        return choice(self.values(self._rows), self.candidates, self.fallback, self._margin)

    def values(self, rows: Array) -> Array:
        """What each candidate is worth in a state of normalised rows."""
        return forward(self._weights, rows)

    def _normal(self, features: Floats) -> Array:
        return np.asarray((features - self._weights["mean"]) / self._weights["scale"], np.float32)

    def learn(self, outcome: WindowOutcome) -> None:
        """It learned before; while it runs it does not."""


def choice(values: Array, candidates: tuple[str, ...], fallback: str, margin: float) -> str:
    """The best candidate, or the fallback where none is better by the margin; not-a-number is an error."""
    if not np.isfinite(values).all():
        raise FloatingPointError("a value is not a number")
    best = int(np.argmax(values))
    reference = candidates.index(fallback)
    return candidates[best] if values[best] > values[reference] + margin else fallback


def build(found: Trained, parameters: dict[str, Any]) -> Aset:
    """The policy of a trained folder; ``guard`` turns off what needs an expectation of the fallback."""
    return Aset(found, guard_of("aset", parameters))


def _expectation(found: Trained) -> Expectation | None:
    """How the fallback did in training; None where that was not measured."""
    given = found.description.settings.get("expectation")
    if given is None:
        return None
    try:
        demand, rate = (tuple(float(each) for each in given[name]) for name in ("demand", "rate"))
        tolerance, proof = float(given["tolerance"]), given.get("proven", True)
    except (KeyError, TypeError, ValueError):
        raise TrimtabError(
            f"{found.where}: settings: expectation must hold demand, rate and tolerance as numbers"
        ) from None
    if len(demand) != len(rate) or not demand or any(np.diff(demand) <= 0) or not math.isfinite(sum(rate) + tolerance):
        raise TrimtabError(f"{found.where}: settings: expectation: demand must rise, with a rate for each")
    if not isinstance(proof, bool):
        raise TrimtabError(f"{found.where}: settings: expectation: proven = {proof!r}, must be true or false")
    return Expectation(demand, rate, tolerance, proof)
