"""What ``--set parameters.NAME.KEY=VALUE`` says, held against what a policy takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trimtab.errors import TrimtabError, did_you_mean


def check_parameters(policy: str, given: Mapping[str, Any], allowed: Collection[str]) -> None:
    """Refuse parameters that the policy does not have."""
    if given and not allowed:
        raise TrimtabError(f"policy {policy!r} has no parameters, got: {', '.join(given)}")
    for key in given:
        if key not in allowed:
            raise TrimtabError(
                f"policy {policy!r}: parameter = {key!r}, must be one of: {', '.join(allowed)}"
                f"{did_you_mean(key, allowed)}"
            )


def guard_of(policy: str, given: Mapping[str, Any]) -> bool:
    """The parameter ``guard`` of a policy that has no other."""
    check_parameters(policy, given, ("guard",))
    guard = given.get("guard", True)
    if not isinstance(guard, bool):
        raise TrimtabError(f"policy {policy!r}: guard = {guard!r}, must be true or false")
    return guard
