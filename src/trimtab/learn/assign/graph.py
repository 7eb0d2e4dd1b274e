"""How ``graf`` is learned: messages between tasks and hosts, each task's latency and each host's cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from trimtab.learn.assign.hosts import arrays_of, family, host_types, softplus_network
from trimtab.learn.assign.traces import Traces, collect
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
from trimtab.policies.assign.graf import COSTS, MESSAGE, OUTPUTS
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario

_LATENESS = 1.5
"""Logarithms beyond this are cut: how late is too late does not matter."""


@dataclass(frozen=True)
class GraphRecipe:
    """Supervised learning on traces that were collected before the first epoch."""

    hidden: tuple[int, ...] = (48, 48)
    states: int = 1000
    plans: int = 4
    batch: int = 512
    rate: float = 3e-3
    underestimated: float = 2.0
    """How much more it counts to call a task too early than too late, as in GRAF."""
    unit: str = "epochs"
    budget: int = 30

    def start(self, scenario: Scenario, seed: int, budget: int) -> GraphLearner:
        """A learner before its first epoch."""
        return GraphLearner(self, scenario, seed, budget)

    def training(self, scenario: Scenario) -> dict[str, Any]:
        """What training draws from."""
        return {
            "scenarios": [each.name for each in family(scenario)],
            "states": self.states,
            "plans_a_state": self.plans,
            "first_workload_seed": TRAINING_SEEDS,
        }


class Graph(nn.Module):
    """The network of ``policies.assign.graf`` for hosts with padded lists of tasks."""

    def __init__(self, hidden: tuple[int, ...], seed: int) -> None:
        super().__init__()
        self.message = softplus_network((len(LOAD), MESSAGE), seed)
        self.host = softplus_network((len(MACHINE) + MESSAGE, *hidden, OUTPUTS), seed + 1)

    def forward(self, machine: Tensor, edges: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """Costs of each host in their units, and lateness of each of its tasks."""
        messages = torch.tanh(self.message(edges)) * present[:, :, None]
        heard = messages.sum(1)
        outputs = self.host(torch.cat([machine, heard], 1))
        empty = self.host(torch.cat([machine, torch.zeros_like(heard)], 1))
        answer = outputs[:, COSTS:]
        lateness = (messages * answer[:, None, :-1]).sum(2) + answer[:, None, -1]
        return outputs[:, :COSTS] - empty[:, :COSTS], lateness


class GraphLearner:
    """One epoch after the other over the rows of the traces."""

    def __init__(self, recipe: GraphRecipe, scenario: Scenario, seed: int, budget: int) -> None:
        torch.set_num_threads(1)
        self.recipe, self.scenario, self.seed, self.budget = recipe, scenario, seed, budget
        self.random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(52,))))
        self.network = Graph(recipe.hidden, seed)
        self.optimiser = torch.optim.AdamW(self.network.parameters(), recipe.rate, weight_decay=1e-5)
        self.done = 0

    @cached_property
    def data(self) -> Data:
        """Collected when first needed, the same from the same seed: a training that goes on collects it again."""
        traces = collect(family(self.scenario), self.recipe.states, self.seed, plans=self.recipe.plans)
        return Data.of(traces)

    def step(self) -> Progress:
        """One epoch."""
        data, recipe = self.data, self.recipe
        for group in self.optimiser.param_groups:
            group["lr"] = 0.5 * recipe.rate * (1.0 + np.cos(np.pi * self.done / max(self.budget, 1)))
        order, losses = self.random.permutation(data.train), []
        for begin in range(0, len(order) - recipe.batch + 1, recipe.batch):
            batch = data.tensors(order[begin : begin + recipe.batch])
            costs, lateness = self.network(*batch[:3])
            error, present = (lateness - batch[4]) * batch[2], batch[2]
            heavier = torch.where(error < 0.0, recipe.underestimated, 1.0)
            late = (heavier * error**2).sum() / present.sum()
            loss = (((costs - batch[3]) / batch[5]) ** 2).mean() + late
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            losses.append(float(loss.detach()))
        self.done += 1
        figures = {"loss": float(np.mean(losses)), **self.tested()}
        return Progress(-figures["test_error"], len(order), figures)

    def tested(self) -> dict[str, float]:
        """On rows that training does not see: errors of costs over their spread, and of the lateness."""
        batch = self.data.tensors(self.data.test)
        with torch.no_grad():
            costs, lateness = self.network(*batch[:3])
            error = ((costs - batch[3]) ** 2).mean().sqrt()
            doubt = (((lateness - batch[4]) * batch[2]) ** 2).sum() / batch[2].sum()
        return {"test_error": float(error), "test_lateness_error": float(doubt.sqrt())}

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
        about = Description(decision="assign", policy="graf", recipe="paper", features=FEATURES, settings=settings)
        # a logistic curve of this scale lies close to the normal one of the errors
        doubt = np.array(self.tested()["test_lateness_error"] * 0.6)
        scales: State = {"mean": data.mean, "scale": data.scale, "unit": data.unit, "doubt": doubt}
        arrays = arrays_of("message", self.network.message) | arrays_of("host", self.network.host)
        return Trained(about, scales | arrays)


@dataclass(frozen=True)
class Data:
    """Rows of hosts, each with its tasks."""

    traces: Traces
    lateness: Any
    mean: Any
    scale: Any
    unit: Any
    train: Any
    test: Any

    @classmethod
    def of(cls, traces: Traces) -> Data:
        """Scale traces; the states of every tenth are kept for tests."""
        machine, edge = traces.machine, traces.edge
        mean = np.concatenate([machine.mean(0), edge.mean(0)])
        spread = np.concatenate([machine.std(0), edge.std(0)])
        scale = np.where(spread > 1e-9, spread, 1.0)
        part = len(MACHINE)
        scaled = replace(
            traces, machine=(machine - mean[:part]) / scale[:part], edge=(edge - mean[part:]) / scale[part:]
        )
        ratio = np.maximum(traces.ended, 1e-3) / np.maximum(traces.left, 1e-3)
        lateness = np.clip(np.log(ratio), -_LATENESS, _LATENESS)
        unit = np.array([traces.seconds.std(), traces.kwh.std()])
        held_back = traces.state % 10 == 9
        return cls(scaled, lateness, mean, scale, unit, np.flatnonzero(~held_back), np.flatnonzero(held_back))

    def tensors(self, rows: Any) -> tuple[Tensor, ...]:
        """Machines, edges, which tasks there are, costs, lateness, and the size of errors of costs that count alike."""
        traces, count = self.traces, self.traces.count[rows]
        places = np.arange(int(count.max()))
        present = places[None, :] < count[:, None]
        index = np.where(present, traces.first[rows][:, None] + places[None, :], 0)
        costs = np.column_stack([traces.seconds[rows], traces.kwh[rows]]) / self.unit
        usual = 0.2 + np.minimum(costs, 3.0)
        there = present.astype(np.float64)
        found = (traces.machine[rows], traces.edge[index], there, costs, self.lateness[index], usual)
        return tuple(torch.from_numpy(np.ascontiguousarray(each)) for each in found)


GRAF = GraphRecipe()
