"""``q-table``: Q-learning over a table of states (the slides' first autoscaler): up, down or none at each step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.policies.scale.agent import DEFAULTS, Agent, Floats, actions_of, features_of, shared_settings
from trimtab.policies.trained import Trained

FEATURES = features_of("paper", "horizontal")
EDGES: dict[str, tuple[float, ...]] = {
    "slo": (0.2, 1.0),
    "cpu": (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97),
    "memory": (0.5,),
    "containers": (
        0.04,
        0.06,
        0.08,
        0.1,
        0.12,
        0.14,
        0.16,
        0.18,
        0.2,
        0.22,
        0.24,
        0.26,
        0.28,
        0.3,
        0.33,
        0.36,
        0.4,
        0.6,
    ),
    "size": (0.3, 0.55, 0.8, 1.05, 1.3, 1.55, 1.8),
    "tail": (0.1, 0.2, 0.25),
    "load": (0.4, 0.6, 0.75, 0.9, 1.0),
    "trend": (-0.05, 0.05),
    "queue": (0.05,),
}
"""Where the table divides each input: cell i holds values from edge i - 1 up to edge i."""


@dataclass(frozen=True)
class QTable(Agent):
    """A table with one row for each cell of the divided state, one column for each action."""

    name: ClassVar[str] = "q-table"

    table: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def values(self, inputs: Floats) -> Floats:
        """The row of the cell that the inputs fall into."""
        return np.asarray(self.table[cell(self.features, inputs)])


def cells(features: tuple[str, ...]) -> int:
    """Rows of a table."""
    return int(np.prod([len(EDGES[name]) + 1 for name in features]))


def cell(features: tuple[str, ...], inputs: Floats) -> int:
    """The row of a state: the last feature counts fastest."""
    row = 0
    for name, value in zip(features, inputs, strict=True):
        edges = EDGES[name]
        row = row * (len(edges) + 1) + int(np.searchsorted(edges, value, side="right"))
    return row


def build(trained: Trained, parameters: dict[str, Any]) -> QTable:
    """The policy of a trained folder."""
    settings = shared_settings(trained, parameters, DEFAULTS)
    direction = settings["direction"]
    features = features_of(trained.description.recipe, direction)
    if trained.description.settings.get("edges") != {name: list(EDGES[name]) for name in features}:
        raise TrimtabError(f"{trained.where}: edges are not those of this version, must be trained again")
    trained.expect(features, {"table": (cells(features), len(actions_of(direction)))})
    return QTable(features=features, table=trained.arrays["table"].astype(np.float64), **settings)
