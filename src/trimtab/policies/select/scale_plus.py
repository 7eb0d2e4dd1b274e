"""``metanet-plus`` over scale policies: the one that is expected to cost least decides in the next window.

Every candidate says what it would ask for, and is compared with the fallback, the best fixed policy: what it asks for
more or less, times the situation. A set of linear models, fitted on branches of simulated runs, each on other states,
predicts what it will cost beyond the fallback, until its effects are over. Where they disagree, nobody knows, and the
fallback decides. So it does always where training did not prove the choice to be better.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.policies.parameters import check_parameters
from trimtab.policies.select.contract import Floats, ScaleState, Situation, State, WindowOutcome
from trimtab.policies.select.fitted import candidates_of, check_features, fallback_of, number_of
from trimtab.policies.select.scale_features import CONTEXT, DIFFERENCE, differences_of
from trimtab.policies.trained import Trained

NAME = "metanet-plus"


def inputs_of(differences: Floats, contexts: Floats, scale: Floats) -> Floats:
    """Inputs of the linear models: every difference, in its own scale, times every number of the context."""
    products = (differences / scale)[:, :, None] * contexts[:, None, :]
    return products.reshape(len(differences), -1)


class ScalePlus:
    """Least expected cost with a charge for doubt; the fallback unless another policy promises to be cheaper."""

    name: ClassVar[str] = NAME
    decision: ClassVar[str] = "select"

    def __init__(
        self,
        candidates: tuple[str, ...],
        fallback: str,
        weights: Floats,
        scale: Floats,
        caution: float,
        proven: bool = True,
        features: tuple[str, ...] = (),
        where: str = NAME,
    ) -> None:
        self.candidates, self.fallback = candidates, fallback
        self.expected: dict[str, float] = {}
        """Of the last choice: milli-USD that each candidate will cost more than the fallback."""
        self._weights, self._scale, self._caution, self._proven = weights, scale, caution, proven
        self._features, self._where = features, where

    def check(self, situation: Situation) -> None:
        """Refuse a scenario with other functions."""
        check_features(self._where, self._features, situation)

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins; nothing is remembered."""
        self.expected = {}

    def choose(self, state: State, now: float) -> str:
        """The candidate that is the best bet."""
        if not isinstance(state, ScaleState):
            raise ValueError("what policies ask for can be compared for scale decisions only")
        self.expected = dict.fromkeys(self.candidates, 0.0)
        if not self._proven:
            return self.fallback
        costs, doubts = self.predicted(differences_of(state, self.fallback, self.candidates), state.context)
        others = [place for place, name in enumerate(self.candidates) if name != self.fallback]
        self.expected.update((self.candidates[place], float(costs[place])) for place in others)
        bets = costs + self._caution * doubts
        best = min(others, key=lambda place: bets[place])
        return self.candidates[best] if bets[best] < 0.0 else self.fallback

    def predicted(self, differences: Floats, context: Floats) -> tuple[Floats, Floats]:
        """Milli-USD more than the fallback: mean and deviation over the models."""
        contexts = np.broadcast_to(context, (len(differences), len(context)))
        found = inputs_of(differences, contexts, self._scale) @ self._weights.T
        return found.mean(axis=1), found.std(axis=1)

    def learn(self, outcome: WindowOutcome) -> None:
        """Nothing is learned while it runs: one window's cost says little about who decided in it."""


def build(trained: Trained, parameters: dict[str, Any]) -> ScalePlus:
    """The selector of a trained folder; ``guard: false`` also lets one choose that did not prove better."""
    check_parameters(NAME, parameters, ("caution", "guard"))
    about, settings = trained.description, trained.description.settings
    candidates, fallback = candidates_of(trained), fallback_of(trained)
    if len(candidates) < 2:
        raise TrimtabError(f"{trained.where}: settings: candidates = {list(candidates)}, must be two or more")
    if (tuple(settings["difference"]), tuple(settings["context"])) != (DIFFERENCE, CONTEXT):
        raise TrimtabError(f"{trained.where}: settings: difference and context must be {DIFFERENCE} and {CONTEXT}")
    rows, models = len(DIFFERENCE) + len(candidates), int(number_of(trained, "models", 1.0))
    trained.expect(about.features, {"weights": (models, rows * len(CONTEXT)), "scale": (rows,)})
    weights, scale = trained.arrays["weights"].astype(np.float64), trained.arrays["scale"].astype(np.float64)
    if not (scale > 0.0).all():
        raise TrimtabError(f"{trained.where}: scale holds {scale.min()}, must be above 0")
    caution = float(parameters.get("caution", number_of(trained, "caution", 0.0)))
    proven, guard = settings["proven"], parameters.get("guard", True)
    if not (0.0 <= caution < float("inf") and isinstance(proven, bool) and isinstance(guard, bool)):
        raise TrimtabError(
            f"{trained.where}: caution = {caution!r}, proven = {proven!r}, guard = {guard!r}, "
            "must be a number from 0 on, and true or false"
        )
    where = trained.where
    return ScalePlus(candidates, fallback, weights, scale, caution, proven or not guard, about.features, where)
