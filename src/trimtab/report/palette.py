"""Colours that people with any colour vision can tell apart (Okabe and Ito), by policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
)
INK, MUTED, FAINT = "@ink", "@muted", "@faint"
"""Names that the page replaces by a colour of the theme in use, light or dark."""

# Yellow is left out: it cannot be read on white.
_CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION)
_DASHES = ("solid", "dash", "dot", "dashdot")
MOST_AT_ONCE = 6
"""With more policies than this, lines show the best three and the baseline at first."""


@dataclass(frozen=True)
class Style:
    """How one policy looks in every chart of a page."""

    colour: str
    dash: str
    shown: bool
    """Whether its lines are there at first; its name in the legend brings them."""

    @property
    def bar(self) -> str:
        """The colour of its bar: policies that stay in the background are grey."""
        return self.colour if self.shown else FAINT


def styles(ranked: Sequence[str], baseline: str | None) -> dict[str, Style]:
    """A style for each policy, best first; the baseline is drawn in the colour of the text."""
    result: dict[str, Style] = {}
    others = [policy for policy in ranked if policy != baseline]
    for index, policy in enumerate(others):
        shown = index < 3 or len(ranked) <= MOST_AT_ONCE
        dash = _DASHES[index // len(_CYCLE) % len(_DASHES)]
        result[policy] = Style(_CYCLE[index % len(_CYCLE)], dash, shown)
    if baseline in ranked:
        result[str(baseline)] = Style(INK, "dash", True)
    return result
