"""``metanet``: MetaNet's surrogate predicts what each scheduler will cost, and the one of lowest cost plans.

State [W, H, S] of the last interval and a policy in; out come φ̂ and ω̂ in (0, 1), times the largest cost φ_max and the
longest scheduling time ω_max that the policy had in training. Every interval that ends is one data point more to tune
the surrogate with.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.policies.assign.dense import sigmoid
from trimtab.policies.parameters import check_parameters
from trimtab.policies.select.contract import Floats, Situation, State, WindowOutcome
from trimtab.policies.select.fitted import candidates_of, check_features, fallback_of, number_of
from trimtab.policies.select.perceptron import Weights, descend
from trimtab.policies.select.surrogates import Ints, Sizes, surrogate_of
from trimtab.policies.trained import Trained

RATE = 0.1
"""Of the step with a new data point."""
MOST = "most"
"""Name of the array with φ_max and ω_max of each policy."""

_NODES = ("cpu of ", "memory of ", "disk of ")
"""How names of features of applications and hosts begin; others are of edges."""


def loss(outputs: Floats, true: Floats, most: Floats) -> tuple[float, Floats]:
    """The paper's ‖φ - φ_max φ̂‖², and the same of ω, over the largest of all; and its gradient by the outputs.

    Rows are data points, columns φ and ω; ``most`` holds φ_max and ω_max of the policy of each row. Money and time
    have other units: ``true`` and ``most`` come in shares of the largest of all policies.
    """
    share = sigmoid(outputs)
    error = most * share - true
    signal = 2.0 * error * most * share * (1.0 - share) / len(outputs)
    return float((error**2).sum(1).mean()), signal


def units_of(most: Floats) -> Floats:
    """The largest φ_max and ω_max, by which both are divided; 1 where everything is zero."""
    largest = most.max(0)
    return np.where(largest > 0.0, largest, 1.0)


def sizes_of(features: tuple[str, ...], candidates: tuple[str, ...]) -> Sizes:
    """How many applications and hosts the names of [W, H, S] are about."""
    edges = [name for name in features if not name.startswith(_NODES)]
    applications = len({name.rpartition(" on ")[0] for name in edges})
    sizes = Sizes(applications, len(edges) // max(applications, 1), len(candidates))
    if sizes.features != len(features):
        raise TrimtabError(f"{len(features)} features are not [W, H, S] of applications and hosts")
    return sizes


class Metanet:
    """The surrogate with its weights, which are read from shared storage before every choice."""

    name: ClassVar[str] = "metanet"
    decision: ClassVar[str] = "select"

    def __init__(self, found: Trained, rate: float | None = None) -> None:
        self.candidates, self.fallback = candidates_of(found), fallback_of(found)
        self._where, self._features = found.where, found.description.features
        self._rate = number_of(found, "rate", 0.0) if rate is None else rate
        sizes = sizes_of(self._features, self.candidates)
        self._surrogate = surrogate_of(str(found.description.settings.get("surrogate")), sizes)
        found.expect(self._features, self._surrogate.shapes() | {MOST: (len(self.candidates), 2)})
        arrays = {name: array.astype(np.float64) for name, array in found.arrays.items()}
        self._most = arrays.pop(MOST)
        if not (self._most >= 0.0).all():
            raise TrimtabError(f"{found.where}: weights {MOST!r} must be from 0 on")
        self._units = units_of(self._most)
        self._trained = arrays
        self.size = sum(array.nbytes for array in found.arrays.values())
        """Bytes of its weights."""
        self.expected: dict[str, float] = {}
        """What each candidate is predicted to cost in this interval, φ in USD."""
        self.seconds: dict[str, float] = {}
        """How long each would run, ω."""

    def check(self, situation: Situation) -> None:
        """Refuse hosts and applications other than those it was trained for."""
        check_features(self._where, self._features, situation)

    def reset(self, situation: Situation, seed: int) -> None:
        """As it was trained."""
        self.check(situation)
        self._weights: Weights = {name: array.copy() for name, array in self._trained.items()}
        self._state: Floats | None = None
        self.expected, self.seconds = {}, {}

    def choose(self, state: State, now: float) -> str:
        """The policy of the lowest predicted cost; of equal ones the first."""
        self._state = state.features
        predicted = self.predict(state.features)
        if not np.isfinite(predicted).all():
            raise FloatingPointError("a prediction is not a number")
        self.expected = dict(zip(self.candidates, predicted[:, 0].tolist(), strict=True))
        self.seconds = dict(zip(self.candidates, predicted[:, 1].tolist(), strict=True))
        return min(self.candidates, key=lambda name: self.expected[name])

    def predict(self, features: Floats) -> Floats:
        """φ and ω of every candidate, row by row."""
        count = len(self.candidates)
        made = self._surrogate.forward(self._weights, np.tile(features, (count, 1)), np.arange(count))
        return self._most * sigmoid(made.outputs)

    def learn(self, outcome: WindowOutcome) -> None:
        """One small step with the new data point; an interval in which nobody planned is none."""
        state, self._state = self._state, None
        if state is None or outcome.cost is None or self._rate == 0.0:
            return
        policy: Ints = np.array([self.candidates.index(outcome.policy)])
        true = np.array([[outcome.cost, outcome.seconds]])
        made = self._surrogate.forward(self._weights, state[np.newaxis], policy)
        _, signal = loss(made.outputs, true / self._units, self._most[policy] / self._units)
        descend(self._weights, self._surrogate.backward(self._weights, made, signal), self._rate)


def build(found: Trained, parameters: dict[str, Any]) -> Metanet:
    """The policy of a trained folder; ``rate`` of tuning, 0 turns it off."""
    check_parameters(Metanet.name, parameters, ("rate",))
    rate = parameters.get("rate")
    if rate is not None and not (isinstance(rate, int | float) and 0.0 <= rate < math.inf):
        raise TrimtabError(f"policy 'metanet': rate = {rate!r}, must be a number from 0 on")
    return Metanet(found, rate)
