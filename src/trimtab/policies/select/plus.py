"""``metanet-plus``: every candidate plans, and the plan that is expected to cost least is carried out.

Plans of tasks for hosts in ``metanet_plus``, numbers of instances in ``scale_plus``: a trained folder says for which
decision it was trained.
"""

from __future__ import annotations

from typing import Any

from trimtab.errors import TrimtabError
from trimtab.policies.select import metanet_plus, scale_plus
from trimtab.policies.trained import Trained


def build(trained: Trained, parameters: dict[str, Any]) -> metanet_plus.MetaNetPlus | scale_plus.ScalePlus:
    """The selector of a trained folder; one that does not say over which decision is over assign."""
    decision = trained.description.settings.get("decision", "assign")
    if decision == "scale":
        return scale_plus.build(trained, parameters)
    if decision != "assign":
        raise TrimtabError(f"{trained.where}: settings: decision = {decision!r}, must be assign or scale")
    return metanet_plus.build(trained, parameters)
