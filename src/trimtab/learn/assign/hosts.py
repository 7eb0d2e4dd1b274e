"""How ``gobi`` and ``gosh`` are learned: a network that predicts what a host with its tasks costs until drained."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from trimtab.control.simulated import SimulatedPlatform
from trimtab.learn.assign.neighbours import costs, neighbours
from trimtab.learn.assign.traces import collect
from trimtab.learn.recipe import TRAINING_SEEDS, Progress, State
from trimtab.learn.state import (
    generator_state,
    module_state,
    optimiser_state,
    restore_module,
    restore_optimiser,
    restored_generator,
)
from trimtab.policies.assign.features import FEATURES, LOAD, MACHINE
from trimtab.policies.assign.machines import types_of
from trimtab.policies.assign.objective import ENERGY_PRICE, VIOLATION_PRICE
from trimtab.policies.assign.surrogate import DEVIATION, HEADS
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.digest import digest
from trimtab.scenario.load import load_scenario, preset_names
from trimtab.scenario.model import Scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload

Floats = npt.NDArray[np.float64]

FAMILY = ("metanet-azure100", "metanet-shift", "metanet-short", "metanet-tight")
"""Scenarios of equal machines: a network is trained on all of them, so that one set of weights serves them."""
_PRICE, _WAIT = MACHINE.index("price"), MACHINE.index("wait")
_WORK, _TASKS = LOAD.index("work"), LOAD.index("tasks")
_FLOOR = 2e-4
"""USD: no host's cost is taken to be surer than this."""


def family(scenario: Scenario) -> tuple[Scenario, ...]:
    """The scenarios to train on: MetaNet's for one of its presets as it comes, else the one given and nothing else.

    A changed copy keeps its preset's name; were it trained on the presets, its own machines and load would be lost.
    """
    preset = scenario.name.startswith("metanet-") and scenario.name in preset_names()
    if not preset or digest(scenario) != digest(load_scenario(scenario.name)):
        return (scenario,)
    return tuple(load_scenario(name) for name in FAMILY)


def host_types(scenario: Scenario) -> list[list[float]]:
    """Types of machine, for ``policy.json``."""
    simulation = Simulation(scenario, build_workload(scenario, TRAINING_SEEDS), 0)
    return [[float(value) for value in row] for row in types_of(SimulatedPlatform(simulation).hosts())]


def softplus_network(sizes: tuple[int, ...], seed: int) -> nn.Sequential:
    """Dense layers with softplus between them, its first weights drawn from ``seed``."""
    parts: list[nn.Module] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for wide, narrow in pairwise(sizes):
            parts += [nn.Linear(wide, narrow), nn.Softplus()]
    return nn.Sequential(*parts[:-1]).double()


def arrays_of(name: str, network: nn.Sequential) -> State:
    """The layers under the names that the policy reads."""
    layers = [part for part in network if isinstance(part, nn.Linear)]
    found: State = {}
    for place, layer in enumerate(layers):
        found[f"{name}.{place}.matrix"] = layer.weight.detach().numpy().T.copy()
        found[f"{name}.{place}.bias"] = layer.bias.detach().numpy().copy()
    return found


@dataclass(frozen=True)
class HostRecipe:
    """Supervised learning on traces that were collected before the first epoch."""

    policy: str
    heads: tuple[str, ...] = HEADS
    hidden: tuple[int, ...] = (48, 48)
    states: int = 1000
    plans: int = 4
    batch: int = 512
    rate: float = 3e-3
    unit: str = "epochs"
    budget: int = 30

    def start(self, scenario: Scenario, seed: int, budget: int) -> HostLearner:
        """A learner before its first epoch."""
        return HostLearner(self, scenario, seed, budget)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training draws from."""
        return {
            "scenarios": [each.name for each in family(scenario)],
            "states": self.states,
            "plans_a_state": self.plans,
            "first_workload_seed": TRAINING_SEEDS,
        }


def usual_cost(machine: Floats, load: Floats) -> Floats:
    """USD of a host by rule of thumb: the machine until all work is done, and a fifth of a violation for each task."""
    seconds = 300.0 * (machine[:, _WAIT] + load[:, _WORK])
    return machine[:, _PRICE] / 3600.0 * seconds + 0.2 * VIOLATION_PRICE * np.maximum(load[:, _TASKS], 1.0)


class HostLearner:
    """One epoch after the other over the rows of the traces."""

    def __init__(self, recipe: HostRecipe, scenario: Scenario, seed: int, budget: int) -> None:
        torch.set_num_threads(1)
        self.recipe, self.scenario, self.seed, self.budget = recipe, scenario, seed, budget
        self.random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(51,))))
        sizes = (len(FEATURES), *recipe.hidden, len(recipe.heads))
        self.network = softplus_network(sizes, seed)
        self.optimiser = torch.optim.AdamW(self.network.parameters(), recipe.rate, weight_decay=1e-5)
        self.done = 0

    @cached_property
    def data(self) -> Data:
        """Collected when first needed, the same from the same seed: a training that goes on collects it again."""
        return Data.collected(family(self.scenario), self.recipe, self.seed)

    def step(self) -> Progress:
        """One epoch."""
        data, recipe = self.data, self.recipe
        for group in self.optimiser.param_groups:
            group["lr"] = 0.5 * recipe.rate * (1.0 + np.cos(np.pi * self.done / max(self.budget, 1)))
        order = self.random.permutation(data.train)
        losses = []
        for begin in range(0, len(order) - recipe.batch + 1, recipe.batch):
            rows = order[begin : begin + recipe.batch]
            # a third without the last task, the others somewhere between the two neighbours
            back = np.minimum(1.5 * self.random.random(len(rows)), 1.0)
            loss = self._loss(data.batch(rows, back))
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            losses.append(float(loss.detach()))
        self.done += 1
        figures = {"loss": float(np.mean(losses)), **self.tested()}
        return Progress(-figures["test_error"], len(order), figures)

    def tested(self) -> dict[str, float]:
        """On rows that training does not see: error of the cost over its spread, and of the gradient's steps."""
        batch = self.data.batch(self.data.test, np.ones(len(self.data.test)))
        with torch.no_grad():
            outputs = self._outputs(batch)[:2]
            errors = [
                ((found - true) * batch.prices).sum(1) for found, true in zip(outputs, batch.targets, strict=True)
            ]
        spread = (batch.targets[0] * batch.prices).sum(1).std()
        change = ((errors[0] - errors[1]) ** 2).mean().sqrt()
        return {
            "test_error": float((errors[0] ** 2).mean().sqrt() / spread),
            "test_change_error": float(change / spread),
        }

    def _outputs(self, batch: Batch) -> list[Tensor]:
        """Costs of the whole hosts and of those with part of a task less; the empty host's are taken off."""
        whole, part, empty = self.network(torch.cat(batch.inputs)).chunk(3)
        found = whole - empty, part - empty
        return [each[:, : len(HEADS)] for each in found] + [found[0][:, len(HEADS) :]]

    def _loss(self, batch: Batch) -> Tensor:
        """Squared errors of the heads, of the cost, and of what part of a task adds to it, in which the work of the
        others is the same and has no part; with a deviation, the Gaussian likelihood of the cost too."""
        *outputs, deviation = self._outputs(batch)
        errors = [found - true for found, true in zip(outputs, batch.targets, strict=True)]
        costs = [(error * batch.prices).sum(1) for error in errors]
        money = costs[0] ** 2 + costs[1] ** 2 + 2.0 * (costs[0] - costs[1]) ** 2
        heads = sum((error * batch.prices) ** 2 for error in errors).sum(1)  # type: ignore[union-attr]
        loss: Tensor = ((money + heads) / batch.usual**2).mean()
        if DEVIATION not in self.recipe.heads:
            return loss
        variance = (deviation[:, 0] * self.data.unit[-1]) ** 2 + _FLOOR**2
        # the mean is learned by squares: were it learned by likelihood, uncertain hosts would hardly count
        likelihood: Tensor = (costs[0].detach() ** 2 / variance + variance.log()).mean()
        return loss + 0.05 * likelihood

    def state(self) -> tuple[State, dict[str, Any]]:
        """Network, optimiser and place in the random stream; the traces are collected again."""
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
        data = self.data
        settings = {"hidden": list(self.recipe.hidden), "hosts": host_types(self.scenario)}
        about = Description(
            decision="assign", policy=self.recipe.policy, recipe="paper", features=FEATURES, settings=settings
        )
        scales: State = {"mean": data.mean, "scale": data.scale, "unit": data.unit}
        return Trained(about, scales | arrays_of("host", self.network))


@dataclass(frozen=True)
class Batch:
    """Rows of hosts for one step."""

    inputs: tuple[Tensor, Tensor, Tensor]
    """With all of their tasks, with part of one less, and empty."""
    targets: tuple[Tensor, Tensor]
    prices: Tensor
    usual: Tensor
    """What the load costs by rule of thumb: errors count in proportion, so that small hosts are learned as well."""


@dataclass(frozen=True)
class Data:
    """Rows of hosts as the network takes them."""

    machine: Floats
    load: Floats
    step: Floats
    """Of the load, from the neighbour with a task less."""
    cost: Floats
    change: Floats
    prices: Floats
    """USD for a unit of each head."""
    usual: Floats
    mean: Floats
    scale: Floats
    unit: Floats
    train: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]

    @classmethod
    def collected(cls, scenarios: tuple[Scenario, ...], recipe: HostRecipe, seed: int) -> Data:
        """Collect traces and scale them; the states of the last tenth are kept for tests."""
        traces = collect(scenarios, recipe.states, seed, plans=recipe.plans)
        near, machine = neighbours(traces), traces.machine
        raw = np.concatenate([machine, traces.load], axis=1)
        mean, spread = raw.mean(0), raw.std(0)
        scale = np.where(spread > 1e-9, spread, 1.0)
        cost = costs(traces)
        unit = np.concatenate([cost.std(0), np.full(len(recipe.heads) - len(HEADS), 1e-3)])
        prices = np.column_stack(
            [machine[:, _PRICE] / 3600.0, np.full(len(raw), ENERGY_PRICE), np.full(len(raw), VIOLATION_PRICE)]
        )
        held_back = traces.state % 10 == 9
        share = unit[: len(HEADS)]
        return cls(
            machine, traces.load, near.load, cost / share, near.cost / share, prices * share,
            usual_cost(machine, traces.load), mean, scale, unit, np.flatnonzero(~held_back), np.flatnonzero(held_back),
        )  # fmt: skip

    def batch(self, rows: npt.NDArray[np.int64], back: Floats) -> Batch:
        """These rows; ``back`` is the share of the last task that is taken off."""
        share, load = back[:, None], self.load[rows]
        loads = load, load - share * self.step[rows], np.zeros_like(load)
        whole, part, empty = (self._inputs(rows, each) for each in loads)
        target = self.cost[rows]
        targets = torch.from_numpy(target), torch.from_numpy(target - share * self.change[rows])
        prices, usual = torch.from_numpy(self.prices[rows]), torch.from_numpy(self.usual[rows])
        return Batch((whole, part, empty), targets, prices, usual)

    def _inputs(self, rows: npt.NDArray[np.int64], load: Floats) -> Tensor:
        return torch.from_numpy((np.concatenate([self.machine[rows], load], axis=1) - self.mean) / self.scale)


GOBI = HostRecipe("gobi")
GOSH = HostRecipe("gosh", (*HEADS, DEVIATION))
