"""``metanet-plus``: every candidate plans, and the plan that is expected to cost least is carried out.

MetaNet predicts from the state alone what a scheduler will cost. Here the cheap heuristics are candidates too, and
the plans themselves are compared: what each will have cost by the time its tasks are done, more than the plan of the
fallback, the best fixed policy. The surrogate starts from what can be worked out on paper, host USD and the price of
tasks that are likely to be late, and corrects that by a set of linear models that were fitted on branches of simulated
runs, each on other states: where they disagree, nobody knows, and the fallback plans. So it does always where
training did not prove the choice to be better.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from trimtab.policies.assign.machines import Machines
from trimtab.policies.assign.objective import VIOLATION_PRICE
from trimtab.policies.parameters import check_parameters
from trimtab.policies.select.bets import Bets, bets_of
from trimtab.policies.select.contract import AssignState, Floats, Situation, State, WindowOutcome
from trimtab.policies.select.fitted import candidates_of, fallback_of, number_of
from trimtab.policies.select.plan_features import CONTEXT, PLAN, Comparison, context
from trimtab.policies.trained import Trained

NAME = "metanet-plus"
FEATURES = (*PLAN, *CONTEXT)


_USD, _RISK = PLAN.index("usd"), PLAN.index("risk-low")


def on_paper(differences: Floats) -> Floats:
    """Milli-USD that plans cost more, if hosts drain as expected and nobody comes."""
    return differences[:, _USD] + 1e3 * VIOLATION_PRICE * differences[:, _RISK]


class MetaNetPlus:
    """Least expected cost with a charge for doubt; the fallback unless another plan promises to be cheaper."""

    name: ClassVar[str] = NAME
    decision: ClassVar[str] = "select"

    def __init__(
        self, candidates: tuple[str, ...], fallback: str, bets: Bets, machines: Machines | None = None
    ) -> None:
        self.candidates, self.fallback = candidates, fallback
        self.machines = machines
        """What it was trained for; None while it learns."""
        self.compares = bets.proven
        """Whether it has to see the plans of all: one that is not proven is its fallback, and costs no more."""
        self.size = bets.weights.nbytes + bets.scale.nbytes if bets.proven else 0
        """Bytes that the host which runs it reads."""
        self.expected: dict[str, float] = {}
        """Of the last choice: milli-USD that each candidate's plan will cost more than the fallback's."""
        self._bets = bets

    def reset(self, situation: Situation, seed: int) -> None:
        """A run begins; nothing is remembered."""
        self.expected = {}

    def choose(self, state: State, now: float) -> str:
        """The candidate whose plan is the best bet."""
        if not isinstance(state, AssignState):
            raise ValueError("plans can be compared for assign decisions only")
        self.expected = dict.fromkeys(self.candidates, 0.0)
        if not self._bets.proven:
            return self.fallback
        reference = state.plans[self.fallback]
        others = {plan.tobytes(): name for name, plan in reversed(state.plans.items())}
        others.pop(reference.tobytes(), None)
        if not others:
            return self.fallback
        names = [name for name in self.candidates if name in others.values()]
        comparison = Comparison(state.tasks, state.hosts, state.current, reference)
        differences = np.array([comparison.difference(state.plans[name]) for name in names])
        about = context(state.tasks, state.hosts, state.current)
        costs, doubts = self._bets.predicted(on_paper(differences), differences, about)
        self.expected.update(zip(names, costs.tolist(), strict=True))
        best = self._bets.best(costs, doubts)
        return self.fallback if best is None else names[best]

    def learn(self, outcome: WindowOutcome) -> None:
        """Nothing is learned while it runs: one interval's cost says nothing about a plan."""


def build(trained: Trained, parameters: dict[str, Any]) -> MetaNetPlus:
    """The selector of a trained folder."""
    check_parameters(NAME, parameters, ("caution", "guard"))
    models = int(number_of(trained, "models", 1.0))
    trained.expect(FEATURES, {"weights": (models, len(PLAN) * len(CONTEXT)), "scale": (len(PLAN),)})
    bets = bets_of(trained, parameters)
    return MetaNetPlus(candidates_of(trained), fallback_of(trained), bets, Machines.of(trained))
