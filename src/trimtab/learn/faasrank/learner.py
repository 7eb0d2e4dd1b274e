"""What every way to train FaaSRank shares: networks, optimiser, what is saved, and the trained policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trimtab.errors import TrimtabError
from trimtab.learn.faasrank.networks import ActorCritic, fill, flat
from trimtab.learn.placing import require_placing
from trimtab.learn.recipe import TRAINING_SEEDS, State, finite
from trimtab.learn.state import optimiser_state, restore_optimiser
from trimtab.policies.place.faasrank import FEATURES, LAYERS, SCALE
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario

_MIB = 2.0**20
_SEEDS_APART = 10**6


def function_scale(scenario: Scenario) -> npt.NDArray[np.float64]:
    """Means, then deviations, of requested_memory (MiB) and init_time (s) over a scenario's functions."""
    values = np.array([(each.memory / _MIB, each.init) for each in scenario.functions]).reshape(-1, 2)
    if len(values) == 0:
        raise TrimtabError("functions = [], must have at least one to train a placement policy")
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    # where all are alike: in parts of the value itself, for the day when another function is there
    deviation = np.where(deviation > 0.0, deviation, np.where(mean > 0.0, mean, 1.0))
    return np.concatenate([mean, deviation])


class Training:
    """Actor, critic and AdamW over both; everything that a step depends on is in them and in ``units``."""

    def __init__(self, scenario: Scenario, recipe: str, seed: int, learning_rate: float) -> None:
        require_placing(scenario, "faasrank")
        self.scenario, self.recipe, self.seed = scenario, recipe, seed
        self.networks = ActorCritic(seed)
        self.optimiser = torch.optim.AdamW(self.networks.parameters(), lr=learning_rate)
        self.scale = function_scale(scenario)
        self.units = 0

    def weights(self) -> npt.NDArray[np.float64]:
        """For the engine: the actor's, then the scale of the function's metrics."""
        return np.concatenate([flat(self.networks.actor), self.scale])

    def draw_seed(self, number: int) -> int:
        """Seed of the draws of one episode; never one that an evaluation uses."""
        return TRAINING_SEEDS + self.seed * _SEEDS_APART + number

    def improve(self, loss: torch.Tensor) -> None:
        """One step of the optimiser."""
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()

    def check(self) -> None:
        """Weights that are not numbers end training with one line."""
        if not finite({"actor": flat(self.networks.actor), "critic": flat(self.networks.critic)}):
            raise TrimtabError(f"training of 'faasrank' diverged in unit {self.units}: weights are not finite")

    def state(self) -> tuple[State, dict[str, Any]]:
        """Weights, moments of the optimiser, units done."""
        arrays: State = {"actor": flat(self.networks.actor), "critic": flat(self.networks.critic)}
        moments, settings = optimiser_state("adam", self.optimiser)
        return arrays | moments, {"units": self.units, "seed": self.seed, "optimiser": settings}

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        self.units, self.seed = int(meta["units"]), int(meta["seed"])
        fill(self.networks.actor, arrays["actor"])
        fill(self.networks.critic, arrays["critic"])
        restore_optimiser("adam", self.optimiser, arrays, meta["optimiser"])

    def trained(self) -> Trained:
        """The policy as it stands."""
        mean, deviation = self.scale[:2].tolist(), self.scale[2:].tolist()
        description = Description(
            decision="place",
            policy="faasrank",
            recipe=self.recipe,
            features=FEATURES,
            settings={
                "layers": list(LAYERS),
                "normalisation": "over the servers of a decision",
                **dict(zip(SCALE, (mean, deviation), strict=True)),
                "warm_infrastructures": self.scenario.platform.warm_counts,
            },
        )
        return Trained(description, {"actor": flat(self.networks.actor), "critic": flat(self.networks.critic)})
