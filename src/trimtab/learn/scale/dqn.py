"""Recipes of ``dqn``: the training loop takes any torch network that maps the inputs to a value for each action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from trimtab.errors import TrimtabError
from trimtab.learn.recipe import TRAINING_SEEDS, State
from trimtab.learn.scale.learner import Floats, QLearner, Settings
from trimtab.learn.scale.replay import Replay
from trimtab.learn.state import below, module_state, optimiser_state, restore_module, restore_optimiser
from trimtab.policies.network import flatten
from trimtab.scenario.model import Scenario

Build = Callable[[int, int], nn.Module]
"""Inputs and actions to a network."""

HIDDEN = (32, 16)


def dense(inputs: int, actions: int) -> nn.Module:
    """The network by default: two hidden layers with tanh, which runs without torch later."""
    sizes = (inputs, *HIDDEN)
    layers: list[nn.Module] = []
    for wide, narrow in pairwise(sizes):
        layers += [nn.Linear(wide, narrow), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], actions))


@dataclass(frozen=True)
class Rates:
    """How fast a network learns."""

    learning_rate: float = 1e-3
    batch: int = 64
    capacity: int = 20_000
    """Experiences that the replay buffer holds."""
    target_every: int = 0
    """Updates between two copies to the target network; 0: without one, as in the slides."""


class DqnLearner(QLearner):
    """Deep Q-learning with a replay buffer."""

    def __init__(
        self, scenario: Scenario, settings: Settings, seed: int, budget: int, rates: Rates, build: Build = dense
    ) -> None:
        self.rates, self.build = rates, build
        super().__init__(scenario, settings, seed, budget)

    def prepare(self) -> None:
        """Networks, optimiser, buffer."""
        torch.set_num_threads(1)
        sizes = (len(self.settings.features), len(self.settings.actions))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.network = self.build(*sizes)
            self.target = self.build(*sizes)
        self._check(*sizes)
        self.target.load_state_dict(self.network.state_dict())
        self.optimiser = torch.optim.Adam(self.network.parameters(), self.rates.learning_rate)
        self.replay = Replay(self.rates.capacity, sizes[0])

    def _check(self, inputs: int, actions: int) -> None:
        with torch.no_grad():
            shape = tuple(self.network(torch.zeros(2, inputs)).shape)
        if shape != (2, actions):
            raise TrimtabError(f"network: 2 rows of {inputs} inputs give {shape}, must be {(2, actions)}")

    def values(self, inputs: Floats) -> Floats:
        """One forward pass."""
        with torch.no_grad():
            found = self.network(torch.from_numpy(inputs.astype(np.float32)).unsqueeze(0))[0]
        return np.asarray(found.numpy(), np.float64)

    def learn(self, before: Floats, action: int, reward: float, after: Floats, over: bool) -> None:
        """Save the experience, then one update from a batch of earlier ones."""
        self.replay.add(before, action, reward, after, over)
        if len(self.replay) < self.rates.batch:
            return
        old, actions, rewards, new, ended = self.replay.sample(self.rates.batch, self.random)
        judge = self.target if self.rates.target_every else self.network
        with torch.no_grad():
            going_on = self.settings.discount * torch.from_numpy(1.0 - ended)
            wanted = torch.from_numpy(rewards) + going_on * judge(torch.from_numpy(new)).max(1).values
        found = self.network(torch.from_numpy(old)).gather(1, torch.from_numpy(actions)[:, None])[:, 0]
        loss = nn.functional.smooth_l1_loss(found, wanted)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        if self.rates.target_every and self.steps % self.rates.target_every == 0:
            self.target.load_state_dict(self.network.state_dict())

    def weights(self) -> State:
        """The network as one vector, which needs no torch to run."""
        return {"weights": flatten(*_layers(self.network))}

    def described(self) -> dict[str, Any]:
        """Sizes of the layers."""
        matrices, _ = _layers(self.network)
        return {"layers": [matrices[0].shape[0], *(matrix.shape[1] for matrix in matrices)]}

    def state(self) -> tuple[State, dict[str, Any]]:
        """Networks, optimiser, buffer, and what all learners have."""
        _, meta = super().state()
        arrays = {f"replay.{name}": array for name, array in self.replay.arrays().items()}
        moments, settings = optimiser_state("adam", self.optimiser)
        arrays |= module_state("network", self.network) | module_state("target", self.target) | moments
        meta |= {"optimiser": settings, "replay_next": self.replay.next, "replay_size": self.replay.size}
        return arrays, meta

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on."""
        super().restore(arrays, meta)
        restore_module("network", self.network, arrays)
        restore_module("target", self.target, arrays)
        restore_optimiser("adam", self.optimiser, arrays, meta["optimiser"])
        self.replay.restore(below("replay", arrays), int(meta["replay_next"]), int(meta["replay_size"]))


def _layers(network: nn.Module) -> tuple[list[Floats], list[Floats]]:
    """Matrices (inputs by outputs) and biases of a chain of dense layers with tanh between them."""
    parts = list(network) if isinstance(network, nn.Sequential) else []
    kinds = [nn.Linear if place % 2 == 0 else nn.Tanh for place in range(len(parts))]
    chained = len(parts) % 2 == 1 and all(isinstance(part, kind) for part, kind in zip(parts, kinds, strict=True))
    dense_layers = [part for part in parts if isinstance(part, nn.Linear)]
    if not chained or any(part.bias is None for part in dense_layers):
        raise TrimtabError("network: only dense layers with tanh between them can be saved to run without torch")
    matrices = [part.weight.detach().numpy().T.astype(np.float64) for part in dense_layers]
    biases = [part.bias.detach().numpy().astype(np.float64) for part in dense_layers]
    return matrices, biases


@dataclass(frozen=True)
class DqnRecipe:
    """How ``dqn`` is learned; ``build`` makes the network."""

    settings: Settings
    rates: Rates = Rates()
    build: Build = dense
    budget: int = 40
    unit: str = "episodes"

    def start(self, scenario: Scenario, seed: int, budget: int) -> DqnLearner:
        """A learner before its first episode."""
        return DqnLearner(scenario, self.settings, seed, budget, self.rates, self.build)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training uses."""
        return {"scenarios": [scenario.name], "first_seed": TRAINING_SEEDS, "seeds": "one for each episode"}


paper = DqnRecipe(Settings("dqn", "paper", "horizontal"))
paper_vertical = DqnRecipe(replace(paper.settings, direction="vertical", overload=10.0))
best = DqnRecipe(Settings("dqn", "best", "joint", tie=0.0, overload=10.0), Rates(target_every=500))
