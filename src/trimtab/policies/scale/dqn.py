"""``dqn``: deep Q-learning (the slides' autoscaler): a network values up, down and none at each step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.policies.network import count, forward
from trimtab.policies.scale.agent import DEFAULTS, Agent, Floats, actions_of, features_of, shared_settings
from trimtab.policies.trained import Trained

FEATURES = features_of("paper", "horizontal")
_MOST_WEIGHTS = 1_000_000


@dataclass(frozen=True)
class Dqn(Agent):
    """A dense network with tanh between its layers; one output for each action."""

    name: ClassVar[str] = "dqn"

    layers: tuple[int, ...] = ()
    weights: Floats = field(default_factory=lambda: np.zeros(0))

    def values(self, inputs: Floats) -> Floats:
        """The outputs of the network."""
        return np.asarray(forward(self.weights, self.layers, inputs)[0])


def build(trained: Trained, parameters: dict[str, Any]) -> Dqn:
    """The policy of a trained folder."""
    settings = shared_settings(trained, parameters, DEFAULTS)
    direction = settings["direction"]
    features = features_of(trained.description.recipe, direction)
    layers: Any = trained.description.settings.get("layers")
    ends = (len(features), len(actions_of(direction)))
    if not _whole(layers) or (layers[0], layers[-1]) != ends or count(layers) > _MOST_WEIGHTS:
        raise TrimtabError(f"{trained.where}: layers = {layers!r}, must be whole numbers from {ends[0]} to {ends[1]}")
    trained.expect(features, {"weights": (count(layers),)})
    weights = trained.arrays["weights"].astype(np.float64)
    return Dqn(features=features, layers=tuple(layers), weights=weights, **settings)


def _whole(layers: Any) -> bool:
    return (
        isinstance(layers, list | tuple)
        and len(layers) >= 2
        and all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in layers)
    )
