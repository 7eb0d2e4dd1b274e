"""What trained selectors have in common: candidates, a fallback among them, and the features that they know."""

from __future__ import annotations

import math

from trimtab.errors import TrimtabError, did_you_mean
from trimtab.policies.select.contract import Situation
from trimtab.policies.trained import Trained


def candidates_of(found: Trained) -> tuple[str, ...]:
    """The policies that a trained selector chooses from."""
    value = found.description.settings.get("candidates")
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        raise TrimtabError(f"{found.where}: settings: candidates = {value!r}, must be a list of names")
    return tuple(value)


def fallback_of(found: Trained) -> str:
    """The one of them that decides where the selector cannot."""
    value = str(found.description.settings.get("fallback", ""))
    if value not in candidates_of(found):
        raise TrimtabError(f"{found.where}: fallback = {value!r}, must be one of its candidates")
    return value


def number_of(found: Trained, name: str, least: float) -> float:
    """A number out of the settings."""
    value = found.description.settings.get(name)
    if not isinstance(value, int | float) or not math.isfinite(value) or value < least:
        raise TrimtabError(f"{found.where}: settings: {name} = {value!r}, must be a number from {least:g} on")
    return float(value)


def check_features(where: str, known: tuple[str, ...], situation: Situation) -> None:
    """Refuse a scenario other than the one that the selector was trained for, by the first feature that differs."""
    if known == situation.features:
        return
    others = "workers" if situation.decision == "route" else "hosts or applications"
    for name in situation.features:
        if name not in known:
            raise TrimtabError(
                f"{where}: trained for other {others}, does not know the feature {name!r}{did_you_mean(name, known)}"
            )
    for name in known:
        if name not in situation.features:
            raise TrimtabError(f"{where}: trained for other {others}, the feature {name!r} is not here")
    raise TrimtabError(f"{where}: trained for {len(known)} features in another order")
