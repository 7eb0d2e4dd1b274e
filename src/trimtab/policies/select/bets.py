"""What candidates will cost more than the fallback: linear models, each fitted on other states, and their doubt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.policies.select.contract import Floats
from trimtab.policies.trained import Trained


def design(differences: Floats, contexts: Floats, scale: Floats) -> Floats:
    """Inputs of the linear models: every difference, in its own scale, times every number of the context."""
    products = (differences / scale)[:, :, None] * contexts[:, None, :]
    return products.reshape(len(differences), -1)


@dataclass(frozen=True)
class Bets:
    """Models, a row each, and how many deviations of them a candidate must promise to be cheaper by."""

    weights: Floats
    scale: Floats
    caution: float
    proven: bool = True
    """Whether training proved the choice to be better than the fallback alone."""

    def predicted(self, known: Floats, differences: Floats, context: Floats) -> tuple[Floats, Floats]:
        """Mean and deviation over the models, on top of what is known without them."""
        contexts = np.broadcast_to(context, (len(differences), len(context)))
        found = known[:, None] + design(differences, contexts, self.scale) @ self.weights.T
        return found.mean(axis=1), found.std(axis=1)

    def best(self, costs: Floats, doubts: Floats) -> int | None:
        """The place of the candidate with the least cost and charge for doubt; None: the fallback is as good."""
        charged = costs + self.caution * doubts
        place = int(np.argmin(charged))
        return place if charged[place] < 0.0 else None


def bets_of(trained: Trained, parameters: dict[str, object]) -> Bets:
    """Of a trained folder; ``guard: false`` also lets one choose that did not prove better."""
    settings = trained.description.settings
    weights, scale = trained.arrays["weights"].astype(np.float64), trained.arrays["scale"].astype(np.float64)
    if not (scale > 0.0).all():
        raise TrimtabError(f"{trained.where}: scale holds {scale.min()}, must be above 0")
    caution, proven, guard = parameters.get("caution", settings["caution"]), settings["proven"], parameters.get("guard")
    is_number = isinstance(caution, int | float) and not isinstance(caution, bool)
    if not is_number or not 0.0 <= float(caution) < float("inf"):  # type: ignore[arg-type]
        raise TrimtabError(f"{trained.where}: caution = {caution!r}, must be a number from 0 on")
    if not isinstance(proven, bool) or not isinstance(guard, bool | None):
        raise TrimtabError(f"{trained.where}: proven = {proven!r}, guard = {guard!r}, must be true or false")
    return Bets(weights, scale, float(caution), proven or guard is False)  # type: ignore[arg-type]
