"""What Trimtab raises when a person has to change something: one line, exit code 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TrimtabError(Exception):
    """A mistake in the input: the message says what, which value, and what is allowed."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint such as ``; did you mean 'hashing'?``, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def unknown(what: str, name: str, known: Iterable[str]) -> TrimtabError:
    """The error for a name that is not in a registry."""
    names = sorted(known)
    return TrimtabError(f"{what} = {name!r}, must be one of: {', '.join(names)}{did_you_mean(name, names)}")
