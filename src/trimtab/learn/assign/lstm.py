"""How the forecast of ``lstm-aco`` is learned: the next count of arrivals, from workloads at several loads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from trimtab.learn.assign.hosts import family
from trimtab.learn.assign.traces import at_load
from trimtab.learn.recipe import TRAINING_SEEDS, Progress, State
from trimtab.learn.state import (
    generator_state,
    module_state,
    optimiser_state,
    restore_module,
    restore_optimiser,
    restored_generator,
)
from trimtab.policies.assign.lstm import FEATURES
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario
from trimtab.workload.build import build_workload


class Network(nn.Module):
    """One LSTM layer and the mean of the next count."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, counts: Tensor) -> Tensor:
        """Mean of the count after each of these, series by series."""
        hidden, _ = self.lstm(counts.sqrt()[:, :, None])
        found: Tensor = nn.functional.softplus(self.out(hidden))[:, :, 0]
        return found


@dataclass(frozen=True)
class LstmRecipe:
    """Maximum likelihood of Poisson counts."""

    hidden: int = 16
    loads: tuple[float, ...] = (0.5, 1.0, 1.5, 2.5)
    length: int = 120
    """Values of a training series."""
    batch: int = 16
    rate: float = 5e-3
    unit: str = "epochs"
    budget: int = 30

    def start(self, scenario: Scenario, seed: int, budget: int) -> LstmLearner:
        """A learner before its first epoch."""
        return LstmLearner(self, scenario, seed, budget)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training draws from."""
        return {
            "scenarios": [each.name for each in family(scenario)],
            "loads": list(self.loads),
            "first_workload_seed": TRAINING_SEEDS,
        }


class LstmLearner:
    """One epoch after the other over pieces of the series."""

    def __init__(self, recipe: LstmRecipe, scenario: Scenario, seed: int, budget: int) -> None:
        torch.set_num_threads(1)
        self.recipe, self.scenario, self.seed, self.budget = recipe, scenario, seed, budget
        self.random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(52,))))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network = Network(recipe.hidden).double()
        self.optimiser = torch.optim.Adam(self.network.parameters(), recipe.rate)
        self.done = 0

    @cached_property
    def series(self) -> list[Tensor]:
        """Counts an interval of every workload, the same from the same seed."""
        found: list[Tensor] = []
        for scenario in family(self.scenario):
            for load in self.recipe.loads:
                seed = TRAINING_SEEDS + 1000 * self.seed + len(found)
                workload = build_workload(at_load(scenario, load), seed)
                edges = np.arange(0.0, workload.duration + scenario.control.interval, scenario.control.interval)
                found.append(torch.from_numpy(np.histogram(workload.arrival, edges)[0].astype(np.float64)))
        return found

    def step(self) -> Progress:
        """One epoch: as many pieces as the series have."""
        length, losses = self.recipe.length + 1, []
        for group in self.optimiser.param_groups:
            group["lr"] = 0.5 * self.recipe.rate * (1.0 + np.cos(np.pi * self.done / max(self.budget, 1)))
        steps = max(sum(len(each) for each in self.series) // (length * self.recipe.batch), 1)
        for _ in range(steps):
            pieces = torch.stack([self._piece(length) for _ in range(self.recipe.batch)])
            loss = nn.functional.poisson_nll_loss(self.network(pieces[:, :-1]), pieces[:, 1:], log_input=False)
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            losses.append(float(loss.detach()))
        self.done += 1
        return Progress(-float(np.mean(losses)), steps * self.recipe.batch, {"loss": float(np.mean(losses))})

    def _piece(self, length: int) -> Tensor:
        series = self.series[self.random.integers(len(self.series))]
        begin = int(self.random.integers(max(len(series) - length, 0) + 1))
        piece = series[begin : begin + length]
        return nn.functional.pad(piece, (0, length - len(piece)))

    def state(self) -> tuple[State, dict[str, Any]]:
        """Network, optimiser and place in the random stream."""
        moments, settings = optimiser_state("adam", self.optimiser)
        meta = {"done": self.done, "optimiser": settings, "random": generator_state(self.random)}
        return module_state("network", self.network) | moments, meta

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on."""
        restore_module("network", self.network, arrays)
        restore_optimiser("adam", self.optimiser, arrays, meta["optimiser"])
        self.random, self.done = restored_generator(meta["random"]), int(meta["done"])

    def trained(self) -> Trained:
        """The policy as it stands."""
        weights = {name: value.detach().numpy().copy() for name, value in self.network.named_parameters()}
        arrays: State = {
            "inward": weights["lstm.weight_ih_l0"][:, 0],
            "recurrent": weights["lstm.weight_hh_l0"].T.copy(),
            "bias": weights["lstm.bias_ih_l0"] + weights["lstm.bias_hh_l0"],
            "outward": weights["out.weight"][0],
            "offset": weights["out.bias"],
        }
        about = Description(
            decision="assign",
            policy="lstm-aco",
            recipe="paper",
            features=FEATURES,
            settings={"hidden": self.recipe.hidden},
        )
        return Trained(about, arrays)


PAPER = LstmRecipe()
