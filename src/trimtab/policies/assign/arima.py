"""An ARIMA model that is fitted seldom and rolled on by its own recursion in between."""

from __future__ import annotations

import threading
import warnings
from collections import deque
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.policies.assign.contract import Floats

LONGEST = 100
"""Values that a fit uses, and that are kept."""
_SHORTEST = 24
"""Before that, the mean of what there is."""
_REFIT = 50
"""Values between two fits."""
_SOONEST = 20
"""Values between two fits where the model has drifted off."""
_DRIFT = 3.5
"""Standard errors that the mean of the last errors may be from 0."""
_RECENT = 10
_ONE_FIT = threading.Lock()
"""Filters of warnings belong to the whole process: of two fits at once, one would take back what the other has set."""


@dataclass(frozen=True)
class Model:
    """Coefficients of ARIMA(p, d, q) with a mean, which is a drift where d is 1."""

    ar: tuple[float, ...]
    differences: int
    ma: tuple[float, ...]
    mean: float
    deviation: float


class Arima:
    """A series, its model, and the errors of the model so far."""

    def __init__(self) -> None:
        self.model: Model | None = None
        self._values: deque[float] = deque(maxlen=LONGEST)
        self._errors: deque[float] = deque(maxlen=_RECENT)
        self._since = 0
        """Values since the last fit."""

    def add(self, value: float) -> None:
        """The next value; now and then the model is fitted anew."""
        if self.model is not None:
            self._errors.append(value - float(self.next_values(1)[0]))
        self._values.append(value)
        self._since += 1
        if len(self._values) >= _SHORTEST and (self.model is None or self._is_due(self.model)):
            self.model = fitted(tuple(self._values))
            self._errors = deque(residuals(self.model, np.array(self._values))[-_RECENT:], _RECENT)
            self._since = 0

    def _is_due(self, model: Model) -> bool:
        drift = abs(float(np.mean(self._errors))) * np.sqrt(len(self._errors))
        return self._since >= _REFIT or (self._since >= _SOONEST and drift > _DRIFT * model.deviation)

    def ahead(self, steps: int) -> float:
        """Sum of the next values to be expected; demand is never negative, nor twice what was ever seen."""
        if self.model is None:
            return steps * float(np.mean(self._values)) if self._values else 0.0
        return float(np.clip(self.next_values(steps), 0.0, 2.0 * max(self._values)).sum())

    def next_values(self, steps: int) -> Floats:
        """The next values to be expected, one by one."""
        assert self.model is not None
        model, values = self.model, np.array(self._values)
        series = np.diff(values, model.differences) - model.mean
        centred, errors = list(series[-max(len(model.ar), 1) :]), list(self._errors)
        for _ in range(steps):
            regression = sum(weight * centred[-lag] for lag, weight in enumerate(model.ar, 1) if lag <= len(centred))
            average = sum(weight * errors[-lag] for lag, weight in enumerate(model.ma, 1) if lag <= len(errors))
            centred.append(regression + average)
            errors.append(0.0)
        found = np.array(centred[len(centred) - steps :]) + model.mean
        return _summed(found, values, model.differences)


def _summed(changes: Floats, values: Floats, differences: int) -> Floats:
    """Undo the differences that were taken."""
    for level in reversed(range(differences)):
        changes = np.cumsum(changes) + np.diff(values, level)[-1]
    return changes


def residuals(model: Model, values: Floats) -> Floats:
    """Errors of one-step forecasts over a series, those before its beginning taken as 0."""
    series = np.diff(values, model.differences) - model.mean
    errors = np.zeros(len(series))
    for place in range(len(series)):
        known = sum(weight * series[place - lag] for lag, weight in enumerate(model.ar, 1) if lag <= place)
        known += sum(weight * errors[place - lag] for lag, weight in enumerate(model.ma, 1) if lag <= place)
        errors[place] = series[place] - known
    return errors


@lru_cache(maxsize=512)
def fitted(values: tuple[float, ...]) -> Model:
    """The model that AutoARIMA finds; copies of a policy that see the same series share it."""
    try:
        from statsforecast.models import AutoARIMA
    except ImportError:
        raise TrimtabError("policy 'arima-aco' needs statsforecast: pip install 'trimtab[train]'") from None
    with _ONE_FIT, warnings.catch_warnings():
        # a candidate model whose likelihood is hard to climb says so; the best of the others is taken
        warnings.simplefilter("ignore")
        fit = AutoARIMA(season_length=1, max_p=3, max_q=3).fit(np.array(values)).model_
    coefficients, (_, _, _, _, _, differences, _) = fit["coef"], fit["arma"]
    return Model(
        ar=_numbered(coefficients, "ar"),
        differences=int(differences),
        ma=invertible(_numbered(coefficients, "ma")),
        mean=float(coefficients.get("intercept", coefficients.get("drift", 0.0))),
        deviation=max(float(np.sqrt(fit["sigma2"])), 1e-9),
    )


def _numbered(coefficients: dict[str, float], name: str) -> tuple[float, ...]:
    found: list[float] = []
    while f"{name}{len(found) + 1}" in coefficients:
        found.append(float(coefficients[f"{name}{len(found) + 1}"]))
    return tuple(found)


def invertible(weights: tuple[float, ...]) -> tuple[float, ...]:
    """The moving average with the same autocorrelation whose errors can be computed from the values.

    Roots of 1 + w1 z + w2 z² … inside the unit circle are reflected out of it; the recursion would diverge with them.
    """
    if not weights or weights[-1] == 0.0:
        return weights
    roots = np.roots([*reversed(weights), 1.0])
    outside = np.where(np.abs(roots) < 1.0, 1.0 / np.conj(roots), roots)
    polynomial = np.array([1.0 + 0.0j])
    for root in outside:
        polynomial = np.convolve(polynomial, [1.0, -1.0 / root])
    return tuple(float(value) for value in polynomial.real[1:])
