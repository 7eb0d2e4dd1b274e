"""Checks of policy parameters: a wrong one is a ``TrimtabError`` of the form "name = value, must be …"."""

from __future__ import annotations

import math

from trimtab.errors import TrimtabError


def require(holds: bool, name: str, value: object, must: str) -> None:
    """Raise unless ``holds``."""
    if not holds:
        raise TrimtabError(f"{name} = {value!r}, must be {must}")


def number(name: str, value: object) -> float:
    """A finite number; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TrimtabError(f"{name} = {value!r}, must be a finite number")
    return float(value)


def positive(name: str, value: object) -> None:
    """A number above 0."""
    above(name, value, 0)


def not_negative(name: str, value: object) -> None:
    """A number of at least 0."""
    require(number(name, value) >= 0, name, value, "at least 0")


def fraction(name: str, value: object) -> None:
    """A number above 0 and at most 1."""
    require(0 < number(name, value) <= 1, name, value, "above 0 and at most 1")


def whole(name: str, value: object, minimum: int) -> None:
    """A whole number of at least ``minimum``."""
    number(name, value)
    require(isinstance(value, int) and value >= minimum, name, value, f"a whole number of at least {minimum}")


def above(name: str, value: object, bound: float) -> None:
    """A number above ``bound``."""
    require(number(name, value) > bound, name, value, f"above {bound:g}")


def between(name: str, value: object, lowest: float, highest: float) -> None:
    """A number from ``lowest`` to ``highest``, both included."""
    require(lowest <= number(name, value) <= highest, name, value, f"between {lowest:g} and {highest:g}")


def one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """One of a few words."""
    require(value in allowed, name, value, f"one of: {', '.join(allowed)}")
