"""What a figure must reach: kept beside it, with whether it does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results.json"


@dataclass(frozen=True)
class Bar:
    """A limit that a figure keeps to."""

    limit: float
    at_least: bool = False
    """Whether more is better; else the limit is the most that is good."""

    def met(self, figure: float) -> bool:
        """Whether a figure keeps to it."""
        return figure >= self.limit if self.at_least else figure <= self.limit


def judged(figures: Mapping[str, float], bars: Mapping[str, Bar]) -> dict[str, dict[str, Any]]:
    """Every bar with its figure, and whether it is met."""
    return {
        name: {
            "figure": figures[name],
            "bar": bar.limit,
            "at_least": bar.at_least,
            "met": bar.met(figures[name]),
        }
        for name, bar in bars.items()
    }


def lines(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One line a bar, for a person."""
    told = []
    for name, entry in found.items():
        side = "at least" if entry["at_least"] else "at most"
        verdict = "met" if entry["met"] else "NOT met"
        told.append(f"{name}: {entry['figure']:.4g}, {side} {entry['bar']:g}: {verdict}")
    return told


def keep(name: str, value: Any, path: Path = RESULTS) -> None:
    """Replace one entry of the file of results."""
    found = json.loads(path.read_text()) if path.exists() else {}
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(found | {name: value}, indent=1) + "\n")
    temporary.replace(path)
