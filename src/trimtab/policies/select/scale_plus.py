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
from trimtab.policies.select.bets import Bets, bets_of
from trimtab.policies.select.contract import ScaleState, Situation, State, WindowOutcome
from trimtab.policies.select.fitted import candidates_of, check_features, fallback_of, number_of
from trimtab.policies.select.scale_features import CONTEXT, DIFFERENCE, differences_of
from trimtab.policies.trained import Trained

NAME = "metanet-plus"


class ScalePlus:
    """Least expected cost with a charge for doubt; the fallback unless another policy promises to be cheaper."""

    name: ClassVar[str] = NAME
    decision: ClassVar[str] = "select"

    def __init__(
        self,
        candidates: tuple[str, ...],
        fallback: str,
        bets: Bets,
        features: tuple[str, ...] = (),
        where: str = NAME,
    ) -> None:
        self.candidates, self.fallback = candidates, fallback
        self.expected: dict[str, float] = {}
        """Of the last choice: milli-USD that each candidate will cost more than the fallback."""
        self._bets, self._features, self._where = bets, features, where

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
        if not self._bets.proven:
            return self.fallback
        others = [name for name in self.candidates if name != self.fallback]
        differences = differences_of(state, self.fallback, self.candidates)
        differences = differences[[name != self.fallback for name in self.candidates]]
        costs, doubts = self._bets.predicted(np.zeros(len(others)), differences, state.context)
        self.expected.update(zip(others, costs.tolist(), strict=True))
        best = self._bets.best(costs, doubts)
        return self.fallback if best is None else others[best]

    def learn(self, outcome: WindowOutcome) -> None:
        """Nothing is learned while it runs: one window's cost says little about who decided in it."""


def build(trained: Trained, parameters: dict[str, Any]) -> ScalePlus:
    """The selector of a trained folder."""
    check_parameters(NAME, parameters, ("caution", "guard"))
    about, settings = trained.description, trained.description.settings
    candidates, fallback = candidates_of(trained), fallback_of(trained)
    if len(candidates) < 2:
        raise TrimtabError(f"{trained.where}: settings: candidates = {list(candidates)}, must be two or more")
    if (tuple(settings["difference"]), tuple(settings["context"])) != (DIFFERENCE, CONTEXT):
        raise TrimtabError(f"{trained.where}: settings: difference and context must be {DIFFERENCE} and {CONTEXT}")
    rows, models = len(DIFFERENCE) + len(candidates), int(number_of(trained, "models", 1.0))
    trained.expect(about.features, {"weights": (models, rows * len(CONTEXT)), "scale": (rows,)})
    return ScalePlus(candidates, fallback, bets_of(trained, parameters), about.features, trained.where)
